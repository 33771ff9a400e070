/**
 * plan_json.h - a plan for machines: schema wheelsmith.plan/1
 *
 * {"schema", "cells": [...], "products": [...], "totals": {...}, "warnings": [...]}. Cells name their
 * product by its place in the list. Costs that nobody knows are null. One cell, one product a line.
 * Fields are only ever added.
 */
#ifndef WS_REPORT_PLAN_JSON_H
#define WS_REPORT_PLAN_JSON_H

#include "base/buf.h"
#include "plan/plan.h"

void ws_plan_json_write(const struct ws_plan *plan, struct ws_buf *out);

#endif
