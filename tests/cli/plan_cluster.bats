#!/usr/bin/env bats
# plan --slurm and --kubernetes: jobs whose tasks build the matrix together. Here a shell runs the tasks with what
# a cluster would set; slurm_real.bats hands the first to Slurm.
# labels: cuda

load base

setup() {
	in_place
	only_host
	matrix m.json '"arch": ["8.0", "8.6", "9.0"]'
	"$WHEELSMITH" lock --matrix m.json --update tiny
	PATH=$(dirname "$WHEELSMITH"):$PATH
}

three_wheels() {
	[ "$(find dist -name '*.whl' -printf '%f\n' | sort -u | wc -l)" -eq 3 ]
	[ "$(find dist -name '*.whl' | wc -l)" -eq 3 ]
}

@test "the tasks of an array job are what bash runs, and build every wheel once" {
	run -0 "$WHEELSMITH" plan --matrix m.json --slurm 2 --jobs 2 --memory 8G
	diff <(echo "$output") - <<- 'END'
		#!/bin/bash
		#SBATCH --job-name=wheelsmith
		#SBATCH --array=1-2
		#SBATCH --cpus-per-task=2
		#SBATCH --mem=8192M
		# Groups of cells that share kernels: 3, dealt out by cost.
		# First, where all see it: wheelsmith lock --matrix m.json
		exec wheelsmith build --matrix m.json --locked --keep-going --shard "$SLURM_ARRAY_TASK_ID/2" \
		    --jobs "$SLURM_CPUS_PER_TASK" --memory "$((SLURM_MEM_PER_NODE * 9 / 10))M" \
		    --store "${TMPDIR:-/tmp}/wheelsmith-$UID" --output "dist/$SLURM_ARRAY_TASK_ID"
	END
	echo "$output" > job.sh
	mkdir tmp
	mv "$WHEELSMITH_STORE" "tmp/wheelsmith-$(id -u)"
	local task
	for task in 1 2; do
		TMPDIR=$PWD/tmp SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=2 SLURM_MEM_PER_NODE=8192 bash job.sh
	done
	three_wheels
}

@test "the tasks of an Indexed Job are what its shell runs" {
	mkdir 'a $$ "b" #: c'
	cp -r m.json m.lock.json recipes 'a $$ "b" #: c'
	"$WHEELSMITH" plan --matrix 'a $$ "b" #: c/m.json' --kubernetes 2 --jobs 2 --memory 8G > job.yaml
	cat job.yaml
	/usr/bin/python3 - <<- 'END' > task.sh
		import yaml
		job = yaml.safe_load(open("job.yaml"))
		spec = job["spec"]
		assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job"), job
		assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2), spec
		pod = spec["template"]["spec"]
		container, = pod["containers"]
		assert pod["restartPolicy"] == "OnFailure" and container["command"] == ["/bin/sh", "-c"], pod
		assert container["resources"] == {"requests": {"cpu": "2", "memory": "8192Mi"}, "limits": {"memory": "8192Mi"}}, container
		assert [m["name"] for m in container["volumeMounts"]] == [v["name"] for v in pod["volumes"]], pod
		print(container["args"][0].replace("$$", "$"), end="") # as Kubernetes reads it
	END
	sed -i "s,--store /store,--store '$WHEELSMITH_STORE'," task.sh
	local index
	for index in 0 1; do
		JOB_COMPLETION_INDEX=$index /bin/sh task.sh
	done
	three_wheels
}

@test "a job deals out the whole matrix, and one kind of job is asked for" {
	run --separate-stderr -2 "$WHEELSMITH" plan --matrix m.json --slurm 2 --shard 1/2
	[ "${stderr_lines[0]}" = "error: --slurm and --shard exclude each other" ]
	run --separate-stderr -2 "$WHEELSMITH" plan --matrix m.json --kubernetes 2 --only '*sm86'
	[ "${stderr_lines[0]}" = "error: --kubernetes and --only exclude each other" ]
	run --separate-stderr -2 "$WHEELSMITH" plan --matrix m.json --kubernetes 2 --slurm 2
	[ "${stderr_lines[0]}" = "error: --slurm and --kubernetes exclude each other" ]
	run --separate-stderr -2 "$WHEELSMITH" --json plan --matrix m.json --slurm 2
	[ "${stderr_lines[0]}" = "error: --slurm and --json exclude each other" ]
	run --separate-stderr -2 "$WHEELSMITH" plan tiny==1.0 --torch 2.11.0 --recipes recipes --slurm 2
	[ "${stderr_lines[0]}" = "error: --slurm needs a matrix in a file: --matrix FILE" ]
	run --separate-stderr -2 "$WHEELSMITH" plan --matrix m.json --slurm 20000
	[ "${stderr_lines[0]}" = "error: --slurm: there are 10000 tasks at most" ]
	# A character that ends a line in YAML; a right-to-left mark; Latin-1.
	local odd kind
	for odd in $'a\nb' $'a\rb' $'a\u2028b' $'a\u2029b' $'a\u0085b' $'a\x7fb' $'a\u202eb' $'a\xe4b'; do
		cp m.json "$odd.json"
		for kind in slurm kubernetes; do
			run --separate-stderr -2 "$WHEELSMITH" plan --matrix "$odd.json" --$kind 2
			[ "${stderr_lines[0]}" = "error: a job cannot name a file with control characters, or one that is not UTF-8" ]
		done
	done
	run --separate-stderr -0 "$WHEELSMITH" plan --matrix m.json --slurm 2 --index prebuilt=https://u:secret@h.example/simple
	[[ $output != *secret* && $stderr == "warning: the job leaves out an index with a login: "* ]]
	run --separate-stderr -0 "$WHEELSMITH" plan --matrix m.json --slurm 9
	[[ $output == *"kernels: 3, dealt out by cost. Some tasks have nothing to do."* ]]
}
