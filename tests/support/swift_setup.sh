#!/bin/bash
# swift_setup.sh DIR PORT: a Swift of one node whose s3api checks signatures (SigV4): the proxy listens on PORT, account, container and
# object servers on PORT+1 to PORT+3, memcached on PORT+4 (tempauth refuses without it). Users ws:alice (s3secret, admin) and
# ws:bob (bobsecret). Start each: swift-X-server DIR/etc/X-server.conf
set -euo pipefail
D=$1 P=$2 U=$(id -un)
mkdir -p "$D/etc" "$D/node/d1"
cd "$D/etc"
cat > swift.conf <<X
[swift-hash]
swift_hash_path_suffix = a
swift_hash_path_prefix = b
[storage-policy:0]
name = gold
default = yes
X
p=$((P + 1))
for s in account container object; do
	cat > $s-server.conf <<X
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $p
user = $U
swift_dir = $D/etc
devices = $D/node
mount_check = false
workers = 0
log_name = $s
log_address = $D/log.sock
log_udp_host =
[pipeline:main]
pipeline = $s-server
[app:$s-server]
use = egg:swift#$s
X
	rm -f $s.builder $s.ring.gz
	swift-ring-builder $s.builder create 4 1 1 >/dev/null
	swift-ring-builder $s.builder add r1z1-127.0.0.1:$p/d1 1 >/dev/null
	swift-ring-builder $s.builder rebalance >/dev/null
	p=$((p + 1))
done
cat > proxy-server.conf <<X
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $P
user = $U
swift_dir = $D/etc
workers = 0
[pipeline:main]
pipeline = catch_errors healthcheck proxy-logging listing_formats cache s3api tempauth copy slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$((P + 4))
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:tempauth]
use = egg:swift#tempauth
user_ws_alice = s3secret .admin
user_ws_bob = bobsecret
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
dns_compliant_bucket_names = true
X
