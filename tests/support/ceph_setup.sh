#!/bin/bash
# ceph_setup.sh DIR PORT: a Ceph of one node with its objects in memory, and its S3 gateway on PORT, which checks signatures
# (SigV4); the monitor listens on PORT+1. Users alice (alicekey, alicesecret) and bob. Prints the processes' ids, one a line, as they start.
set -euo pipefail
D=$1 P=$2
mkdir -p "$D"/{mon,osd,rgw}
D=$(readlink -f "$D")
conf=$D/ceph.conf
fsid=$(< /proc/sys/kernel/random/uuid)
osd=$(< /proc/sys/kernel/random/uuid)
ulimit -n 4096
cat > "$conf" <<X
[global]
fsid = $fsid
mon host = v2:127.0.0.1:$((P + 1))
run dir = $D
admin socket = $D/\$name.asok
log file = $D/\$name.log
pid file = $D/\$name.pid
keyring = $D/keyring
public network = 127.0.0.0/8
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
osd uuid = $osd
osd data = $D/osd
osd objectstore = memstore
mon allow pool size one = true
mon data = $D/mon
mon data avail crit = 1
mon cluster log file = $D/cluster.log
rgw data = $D/rgw
X
ceph-authtool --create-keyring "$D/keyring" --gen-key -n mon. --cap mon 'allow *' > /dev/null
ceph-authtool "$D/keyring" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' > /dev/null
ceph-authtool "$D/keyring" --gen-key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *' > /dev/null
monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$((P + 1))]" "$D/monmap" > /dev/null
ceph-mon -c "$conf" --mkfs -i a --monmap "$D/monmap" --keyring "$D/keyring"

start() { # NAME COMMAND...
	local name=$1
	shift
	"$@" -c "$conf" -f > "$D/$name.out" 2>&1 < /dev/null 3>&- &
	echo $!
}
start mon ceph-mon -i a
timeout 60 ceph -c "$conf" osd new "$osd" 0 > /dev/null 2>&1
ceph-osd -c "$conf" -i 0 --mkfs > "$D/mkfs.out" 2>&1
start osd ceph-osd -i 0
start rgw radosgw -n client.admin --rgw-frontends "beast endpoint=127.0.0.1:$P"
for ((i = 0; i < 300; i++)); do
	! curl -s -o /dev/null "http://127.0.0.1:$P/" || break
	sleep 0.1
done
admin() {
	radosgw-admin -c "$conf" "$@" > /dev/null 2>> "$D/admin.out"
}
for user in alice bob; do
	admin user create --uid $user --display-name $user --access-key ${user}key --secret-key ${user}secret
done
# Its second API, in which a bucket is opened to all readers by one header.
admin subuser create --uid alice --subuser alice:swift --access full --key-type swift --secret-key alicesecret
