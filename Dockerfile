# Dockerfile - an image with torch and with wheels that were built for it; docs/docker.md tells how to use it.
#
# For BuildKit and for buildah 1.28 alike: no heredocs, no COPY --link, no RUN --network (tests/lint/dockerfile.sh).
# Compilers, kits and the program itself stay in the stages; the image gets Python packages alone.

# What the runtime starts from. Its Python's headers are compiled against, and its glibc decides the platform tag.
ARG BASE=debian:bookworm
# What wheelsmith itself is built on. It runs on glibc 2.28 and newer.
ARG BUILDER=debian:bookworm

# ---- wheelsmith: the program, with its libraries beside it
FROM ${BUILDER} AS wheelsmith
WORKDIR /src
COPY dev ./
RUN ./dev setup package
COPY CMakeLists.txt CMakePresets.json LICENSE README.md SECURITY.md ./
COPY cmake cmake
COPY tools tools
COPY completions completions
COPY docs/man docs/man
COPY schemas schemas
COPY builder builder
COPY kernels kernels
COPY floor floor
COPY matrix/facts matrix/facts
COPY matrix/kits matrix/kits
COPY recipes recipes
RUN ./dev package --prefix /opt/wheelsmith

# ---- base: BASE with a Python that makes environments, and with certificates
FROM ${BASE} AS base
RUN { python3 -c 'import ensurepip' && [ -e /etc/ssl/certs/ca-certificates.crt ]; } 2>/dev/null \
	|| { apt-get -q update \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ca-certificates python3 python3-venv \
	&& rm -rf /var/lib/apt/lists/*; }

# ---- fetch: all that comes from outside, into the store. It needs a network, and no compiler.
FROM base AS fetch
ARG MATRIX=matrix/quickstart.json
ARG POLICY=
# Another value runs this stage again, for a store that was lost: --build-arg REFETCH=2
ARG REFETCH=
WORKDIR /build
COPY --from=wheelsmith /opt/wheelsmith /opt/wheelsmith
COPY matrix matrix
RUN --mount=type=cache,id=wheelsmith-store,target=/store \
	--mount=type=secret,id=ca,target=/run/secrets/ca \
	--mount=type=secret,id=netrc,target=/run/secrets/netrc \
	if [ -s /run/secrets/ca ]; then export SSL_CERT_FILE=/run/secrets/ca; fi; \
	if [ -s /run/secrets/netrc ]; then export NETRC=/run/secrets/netrc; fi; \
	/opt/wheelsmith/bin/wheelsmith fetch --store /store --matrix "$MATRIX" ${POLICY:+--policy "$POLICY"}

# ---- wheels: compiles, without a network. A build that was stopped goes on from the cache mount.
FROM base AS wheels
# The package of a g++ that the CUDA toolkit takes: g++-13 for CUDA 12.4 where g++ is 14.
ARG COMPILER=g++
RUN missing=; command -v "$COMPILER" >/dev/null || missing=$COMPILER; \
	python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
	|| missing="$missing python3-dev"; \
	[ -z "$missing" ] || { apt-get -q update \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing \
	&& rm -rf /var/lib/apt/lists/*; }
ARG MATRIX=matrix/quickstart.json
ARG POLICY=
ARG JOBS=
ARG MEMORY=
ARG TIMEOUT=
WORKDIR /build
COPY --from=wheelsmith /opt/wheelsmith /opt/wheelsmith
COPY --from=fetch /build/matrix matrix
RUN --mount=type=cache,id=wheelsmith-store,target=/store \
	/opt/wheelsmith/bin/wheelsmith build --locked --offline --store /store --matrix "$MATRIX" -o /dist \
	${POLICY:+--policy "$POLICY"} ${JOBS:+--jobs "$JOBS"} ${MEMORY:+--memory "$MEMORY"} ${TIMEOUT:+--timeout "$TIMEOUT"}

# ---- runtime: torch and what else was asked for, then ours; both by their hashes
FROM base AS runtime
# Every package with its hash, torch among them: pip-compile --generate-hashes makes such a file.
ARG REQUIREMENTS=examples/quickstart/requirements.txt
# Which of the files in /dist; a matrix of several torch releases makes one for each.
ARG OURS=requirements.txt
RUN python3 -m venv /opt/venv && useradd --create-home --uid 10001 app
ENV PATH=/opt/venv/bin:$PATH
COPY ${REQUIREMENTS} /opt/requirements.txt
RUN --mount=type=cache,id=wheelsmith-pip,target=/pip \
	--mount=type=secret,id=ca,target=/run/secrets/ca \
	--mount=type=secret,id=netrc,target=/run/secrets/netrc \
	if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi; \
	if [ -s /run/secrets/netrc ]; then export NETRC=/run/secrets/netrc; fi; \
	pip install --cache-dir /pip --no-compile --require-hashes -r /opt/requirements.txt
# What became of each cell, and why.
COPY --from=wheels /dist/build.json /opt/wheels.json
# pip says which of the wheels are this Python's, and those are judged in the torch that is now installed. That is
# named beside prebuilt wheels, and not downloaded; wheels that were renamed are named by their path in /dist.
RUN --mount=type=bind,from=wheels,source=/dist,target=/dist \
	--mount=type=bind,from=wheelsmith,source=/opt/wheelsmith,target=/opt/wheelsmith \
	--mount=type=tmpfs,target=/ours \
	ours="--no-index --no-deps --require-hashes --find-links ."; cd /dist; \
	if ! ls ./*.whl >/dev/null 2>&1; then echo "no wheel is installed: build.json says why"; exit 0; fi; \
	pip install --no-compile $ours -r "$OURS" \
	&& sed '/^torch==/d' "$OURS" > /tmp/ours.txt \
	&& pip download -q -d /ours $ours -r /tmp/ours.txt \
	&& rm /tmp/ours.txt \
	&& /opt/wheelsmith/bin/wheelsmith verify --here /ours/*.whl
# What became of each package, for the label: "causal-conv1d=build", "flash-attn=fallback". It is known once build.json
# is there, and a label is not: this build prints it, and the next one, of which nothing else runs, is given it.
ARG DECISION=
RUN python3 -c 'import json, sys; \
	cells = json.load(open("/opt/wheels.json"))["cells"]; \
	found = ",".join(sorted({c["package"] + "=" + c["decision"].replace("cached", "build") for c in cells})); \
	print("DECISION=" + found); \
	sys.exit(sys.argv[1] not in ("", found) and "the decision is not " + sys.argv[1])' "$DECISION"
LABEL wheelsmith.decision=$DECISION
USER app
WORKDIR /home/app
