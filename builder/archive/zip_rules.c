/* zip_rules.c - the rules in words, and the error of a broken one. */
#include "archive/rule_err.h"
#include "archive/zip_format.h"

static const struct {
	const char *name;
	const char *meaning;
} rules[WS_ZIP_RULES] = {
	[WS_ZIP_SOUND] = {"sound", "no rule is broken"},
	[WS_ZIP_END_RECORD] = {"end-record", "an end record closes the archive"},
	[WS_ZIP_TRAILING_DATA] = {"trailing-data", "nothing follows the end record"},
	[WS_ZIP_COMMENT] = {"comment",
		"neither the archive nor an entry has a comment; of sources, the archive may"},
	[WS_ZIP_ONE_DISK] = {"one-disk", "the archive is not split"},
	[WS_ZIP_ZIP64] = {"zip64", "wide fields stand where, and only where, narrow ones say so"},
	[WS_ZIP_DIRECTORY] = {"directory",
		"the directory is whole and ends where the end record begins"},
	[WS_ZIP_COUNT] = {"count", "the end record counts the entries that the directory has"},
	[WS_ZIP_LIMIT] = {"limit", "there are not absurdly many entries"},
	[WS_ZIP_ENCRYPTED] = {"encrypted", "no entry is encrypted"},
	[WS_ZIP_FLAGS] = {"flags", "only known general purpose bits are set"},
	[WS_ZIP_METHOD] = {"method", "entries are stored or deflated"},
	[WS_ZIP_EXTRA] = {"extra", "extra fields are well formed and give no second name"},
	[WS_ZIP_NAME_TEXT] = {"name-text",
		"names are ASCII, or UTF-8 marked as such, without controls"},
	[WS_ZIP_NAME_PATH] = {"name-path", "names are relative paths that stay inside"},
	[WS_ZIP_TYPE] = {"type", "entries are regular files and empty folders; of sources, links too"},
	[WS_ZIP_DUPLICATE] = {"duplicate", "no name is repeated"},
	[WS_ZIP_FILE_AS_FOLDER] = {"file-as-folder", "no entry lies below a file"},
	[WS_ZIP_PREFIX] = {"prefix", "the first entry is at the first byte"},
	[WS_ZIP_OVERLAP] = {"overlap", "entries do not share bytes"},
	[WS_ZIP_GAP] = {"gap", "every byte between entries belongs to one"},
	[WS_ZIP_BOMB] = {"bomb", "contents are not absurdly larger than the archive"},
	[WS_ZIP_LOCAL_HEADER] = {"local-header", "a local header is where the directory says"},
	[WS_ZIP_LOCAL_NAME] = {"local-name", "local header and directory give one name"},
	[WS_ZIP_LOCAL_FIELDS] = {"local-fields", "local header and directory agree"},
	[WS_ZIP_DESCRIPTOR] = {"descriptor",
		"a data descriptor is only where it was announced, and agrees"},
	[WS_ZIP_DEFLATE] = {"deflate", "deflated data is well formed and ends with its entry"},
	[WS_ZIP_SIZE] = {"size", "contents have exactly the size that the directory gives"},
	[WS_ZIP_CRC] = {"crc", "contents have the CRC that the directory gives"},
};

const char *
ws_zip_rule_name(enum ws_zip_rule rule)
{
	return rules[rule].name;
}

const char *
ws_zip_rule_meaning(enum ws_zip_rule rule)
{
	return rules[rule].meaning;
}

bool
ws_zip_break(struct ws_zip *zip, enum ws_zip_rule rule, const char *entry, struct ws_err *err,
	const char *format, ...)
{
	zip->broken = rule;
	va_list values;
	va_start(values, format);
	ws_rule_err(err, zip->source->name, "zip", rules[rule].name, entry, format, values);
	va_end(values);
	return false;
}
