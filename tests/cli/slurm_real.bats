#!/usr/bin/env bats
# By slurmctld and two slurmd on this host: the array job that plan --slurm prints, with results shared through nginx; and
# workers of a farm (BuildGrid) inside an allocation.
# labels: real network
# timeout: 900

load building
load farming

setup_file() {
	needs slurmctld slurmd munged sbatch nginx
	make_base
	export BASE
}

setup() {
	in_place
	PIDS=()
}

teardown() {
	local at
	for ((at = ${#PIDS[@]} - 1; at >= 0; at--)); do
		kill "${PIDS[at]}" 2> /dev/null || true
	done
	wait 2> /dev/null || true
}

start() { # COMMAND...
	"$@" > "$PWD/$(basename "$1")-${#PIDS[@]}.out" 2>&1 3>&- 8>&- 9>&- &
	PIDS+=($!)
}

start_slurm() {
	local dir=$PWD/slurm host
	host=$(hostname -s)
	mkdir -p "$dir"/{state,run,spool-n1,spool-n2}
	mkdir -m 700 "$dir/munge"
	head -c 32 /dev/urandom > "$dir/munge/key"
	chmod 600 "$dir/munge/key"
	cat > "$dir/slurm.conf" <<- END
		ClusterName=ws
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge/sock
		SlurmctldPort=$(free_port)
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool-%n
		SlurmctldPidFile=$dir/run/ctld.pid
		SlurmdPidFile=$dir/run/slurmd-%n.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
		MailProg=/bin/true
		ReturnToService=2
		NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$host Port=$(free_port) CPUs=1 RealMemory=4000 State=UNKNOWN
		NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$host Port=$(free_port) CPUs=1 RealMemory=4000 State=UNKNOWN
		PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	export SLURM_CONF=$dir/slurm.conf
	start munged --force -F --key-file="$dir/munge/key" --socket="$dir/munge/sock" --pid-file="$dir/munge/pid" \
		--log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
	wait_for 20 test -S "$dir/munge/sock"
	start slurmctld -D -f "$SLURM_CONF"
	start slurmd -D -N n1 -f "$SLURM_CONF"
	start slurmd -D -N n2 -f "$SLURM_CONF"
	wait_for 60 two_are_idle
}

two_are_idle() {
	[ "$(sinfo -h -o '%t %D' 2> /dev/null)" = "idle 2" ]
}

start_nginx() {
	local run=$PWD/nginx
	mkdir -p "$run"/{tmp,srv}
	PORT=$(free_port)
	cat > "$run/nginx.conf" <<- END
		daemon off; master_process off; pid nginx.pid; error_log error.log; events { }
		http {
			access_log access.log;
			client_body_temp_path tmp/a; proxy_temp_path tmp/b; fastcgi_temp_path tmp/c; uwsgi_temp_path tmp/d; scgi_temp_path tmp/e;
			server {
				listen 127.0.0.1:$PORT;
				root $run/srv;
				client_max_body_size 0;
				location ~ "^/(ac|cas)/[0-9a-f]{64}\$" { dav_methods PUT; create_full_put_path on; }
				location / { return 404; }
			}
		}
	END
	start nginx -p "$run/" -c "$run/nginx.conf" -e "$run/error.log"
	wait_for 10 curl -s -o /dev/null "http://127.0.0.1:$PORT/"
}

# Each task has a store of its own, with the kits that a `fetch` would have brought.
run_array() {
	local task
	for task in 1 2 3; do
		rm -rf "tmp-$task"
		mkdir "tmp-$task"
		cp -r prepared "tmp-$task/wheelsmith-$(id -u)"
	done
	sbatch --wait --output=task-%a.log --chdir="$PWD" job.sh
	tail -n 30 task-*.log
}

@test "an array job builds the matrix, no kernel twice; the same array again, with empty stores, compiles nothing" {
	start_nginx
	start_slurm
	"$WHEELSMITH" publish --new-key ci.pem
	mkdir -p "$HOME/.config/wheelsmith"
	cat > "$HOME/.config/wheelsmith/config.json" <<- END
		{"remote": {"endpoint": "http://127.0.0.1:$PORT", "access": "write", "key": "$PWD/ci.pem"}}
	END
	matrix m.json '"arch": ["8.0", "8.6", "9.0"]'
	"$WHEELSMITH" lock --matrix m.json --update tiny
	"$WHEELSMITH" plan --matrix m.json --slurm 3 --jobs 1 --memory 1500M |
		sed "s,^exec wheelsmith,export TMPDIR='$PWD'/tmp-\$SLURM_ARRAY_TASK_ID\nexec '$WHEELSMITH'," > job.sh
	cat job.sh
	mv "$WHEELSMITH_STORE" prepared

	run_array
	[ "$(find dist -name '*.whl' | wc -l)" -eq 3 ]
	sha256sum dist/*/*.whl > first.sums
	for task in 1 2 3; do
		[ "$(grep -c 'compile kernel.cu' "task-$task.log")" -eq 1 ]
	done

	rm -rf dist
	run_array
	sha256sum -c first.sums
	[ "$(grep -l ' from the store, 0 ran' task-?.log | wc -l)" -eq 3 ]
}

@test "one wheel over two nodes: an allocation starts a worker on each, and a build that compiles by them" {
	unset WHEELSMITH_INDEX
	"$WHEELSMITH" fetch --matrix m.json --kits archive
	start_buildgrid
	start_slurm
	mkdir -p "$HOME/.config/wheelsmith"
	cat > "$HOME/.config/wheelsmith/config.json" <<- END
		{"remote": {"endpoint": "grpc://127.0.0.1:$PORT", "instance": "main", "access": "none", "platform": ["OSFamily=linux"]}}
	END
	cat > worker.sh <<- END
		#!/bin/bash
		exec "$VENV/bin/python" "$WS_ROOT/tests/support/reapi_worker.py" "$PORT" "\$SLURMD_NODENAME" \
		    "$FARM/\$SLURMD_NODENAME" OSFamily=linux
	END
	chmod +x worker.sh
	# As docs/slurm.md has it.
	cat > farm.sh <<- END
		#!/bin/bash
		#SBATCH --nodes=2 --ntasks-per-node=1 --mem=1500M
		srun --overlap ./worker.sh &
		'$WHEELSMITH' build --matrix m.json --kits archive --executor remote --json > events
		kill %1
		wait
	END
	sbatch --wait --output=farm.log --chdir="$PWD" farm.sh || status=$?
	cat farm.log
	end_farm pids
	[ "${status:-0}" -eq 0 ]
	[ -n "$(echo dist/*.whl)" ]
	grep -q '"worker":"n1"' events
	grep -q '"worker":"n2"' events
}
