#!/bin/bash
# buildgrid_setup.sh VENV DIR PORT: BuildGrid of VENV on PORT, its scheduler's state in a PostgreSQL of its own, reached through a socket
# below DIR. One instance, main: cache, storage, execution. Workers are started separately (reapi_worker.py). DIR is a path without blanks that
# the user postgres may enter. Prints the processes' ids, one a line, as they start.
set -euo pipefail
V=$1 D=$2 P=$3
mkdir -p "$D"/{cas,socket,pg}
chmod 755 "$D"
as=()
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses root
	as=(runuser -u postgres --)
	chown postgres "$D"/{socket,pg}
fi
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -n 1)
cd "$D"
"${as[@]}" "$bin/initdb" -D "$D/pg/data" -A trust -U bgd --no-sync -E UTF8 > initdb.out
cat >> pg/data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$D/socket'
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 100
END
"${as[@]}" "$bin/pg_ctl" -D "$D/pg/data" -l "$D/pg/log" -w start > /dev/null 3>&-
head -n 1 pg/data/postmaster.pid
"$bin/createdb" -h "$D/socket" -U bgd bgd
# "+psycopg2": for a plain "postgresql:" SQLAlchemy takes psycopg 3, which BuildGrid's notifier does not serve.
url="postgresql+psycopg2://bgd@/bgd?host=$D/socket"
"$V/bin/bgd" migrate apply "$url" > migrate.out 2>&1
cat > bgd.yml <<END
server:
  - !channel
    address: 127.0.0.1:$P
    insecure-mode: true
authorization:
  method: none
monitoring:
  enabled: false
connections:
  - !sql-connection &sql
    connection-string: $url
    pool-size: 20
    max-overflow: 20
storages:
  - !disk-storage &cas
    path: $D/cas
caches:
  - !lru-action-cache &ac
    storage: *cas
    max-cached-refs: 100000
    allow-updates: true
    cache-failed-actions: false
schedulers:
  - !sql-scheduler &sched
    sql: *sql
    storage: *cas
    action-cache: *ac
    property-set: !dynamic-property-set
      unique-property-keys: [OSFamily]
      match-property-keys: [OSFamily, ISA, pool]
      wildcard-property-keys: [container-image]
    poll-interval: 0.5
    bot-poll-interval: 0.5
    execution-timer-interval: 5
    session-expiry-timer-interval: 1
    bot-session-keepalive-timeout: 10 # what a worker had that is not heard of any more starts elsewhere after this
    max-execution-timeout: 7200
    max-job-attempts: 5
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.1
        jitter-factor: 0.0
        failure-backoff: 1.0
        priority-assignment-percentage: 100
instances:
  - name: main
    services:
      - !action-cache
        cache: *ac
      - !execution
        scheduler: *sched
        operation-stream-keepalive-timeout: 60
      - !cas
        storage: *cas
      - !bytestream
        storage: *cas
thread-pool-size: 64 # calls at once, streams included; one more is RESOURCE_EXHAUSTED
END
"$V/bin/bgd" server start bgd.yml > bgd.out 2>&1 < /dev/null 3>&- &
echo $!
for ((i = 0; i < 600; i++)); do
	! (exec 8<> "/dev/tcp/127.0.0.1/$P") 2> /dev/null || exit 0
	sleep 0.1
done
echo "buildgrid_setup.sh: BuildGrid does not listen; $D/bgd.out" >&2
exit 1
