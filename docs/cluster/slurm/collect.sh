#!/bin/bash
# Triages the failed jobs that note_job.sh has noted. For a timer or cron, every few minutes, on a machine that sees
# the spool and the logs, under an account of its own that may read no more than the logs:
#
#     */5 * * * * postmortem /etc/postmortem/collect.sh
#
# Not under root or SlurmUser: a user chooses where the output of a job goes, and so what is read here.
# Further options of `postmortem triage` may follow. One run at a time; killed, the next goes on.
set -u
. "${0%/*}/postmortem.conf"
umask 027
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$state/cache} # the rules, compiled once
mkdir -p "$state/logs" "$out" || exit 1
exec 9> "$state/lock"
flock -n 9 || exit 0

path() { # the path that Slurm makes of a pattern; fails at what only a node can fill in
    local text=$1 made='' width value
    while [[ $text =~ ^([^%]*)%([0-9]*)(.)(.*)$ ]]; do
        made+=${BASH_REMATCH[1]} width=${BASH_REMATCH[2]}
        case ${BASH_REMATCH[3]} in
            j | J) value=$number ;; A) value=${array:-$number} ;; a) value=${task:-4294967294} ;;
            b) value=$((${task:-4294967294} % 10)) ;; u) value=$user ;; x) value=$name ;; %) value=% ;; *) return 1 ;;
        esac
        text=${BASH_REMATCH[4]}
        [[ -n $width && $value =~ ^[0-9]+$ ]] && printf -v value "%0${width:0:2}d" "$((10#$value))"
        made+=$value
    done
    made+=$text
    [[ $made == /* ]] || made=$folder/$made
    echo "$made"
}

link() { # names a log by the id of its job, if it is a file of the job's own user
    local file
    file=$(path "$1") || return 1
    [ "$(stat -Lc '%u %F' -- "$file" 2> /dev/null)" = "$owner regular file" ] && ln -sfn -- "$file" "$state/logs/$2"
}

shopt -s nullglob
notes=("$spool"/*.job)
notes=("${notes[@]:0:5000}")
declare -A accounted=() # what the accounting says of jobs whose notes do not tell how they ended
ids=$(for note in "${notes[@]}"; do sed -n '1h;4{/^$/{x;p}}' "$note"; done | paste -sd,)
if [ -n "$ids" ]; then
    while IFS='|' read -r number ending; do
        accounted[$number]=${ending%% *}
    done < <(timeout 60 sacct -naXPD -o JobIDRaw,State -j "$ids" 2> /dev/null)
fi

records=$state/ended.txt # what the notes say of every job, failed or not: for --jobs where there is no accounting
[ -s "$records" ] || echo 'job|user|name|nodes|start|end|state|exit' > "$records"
for note in "${notes[@]}"; do
    {
        read -r number; read -r array; read -r task; read -r ending; read -r code; read -r owner; read -r user
        read -r name; read -r nodes; read -r start; read -r end; read -r folder; read -r output; read -r errors
    } < "$note"
    job=$number usual=slurm-%j.out
    [ -n "$array" ] && job=${array}_$task usual=slurm-%A_%a.out
    ending=${ending:-${accounted[$number]-}}
    case $ending:$code in
        PENDING:0:0 | RUNNING:0:0 | COMPLETING:0:0 | REQUEUED:0:0) # the accounting lags behind, or it runs again
            [ -n "$(find "$note" -mmin -60)" ] && continue ;;
        :0:0) ending=COMPLETED ;;
        :* | PENDING:* | RUNNING:* | COMPLETING:*) ending=FAILED ;;
    esac
    echo "$job|$user|${name//|/ }|$nodes|$start|${end:-$(stat -c %Y "$note")}|$ending|$code" >> "$records"
    case $ending in
        FAILED | TIMEOUT | OUT_OF_MEMORY | NODE_FAIL | BOOT_FAIL | DEADLINE | LAUNCH_FAILED)
            link "${output:-$usual}" "slurm-$job.out" || echo "job $job: no file of its user at ${output:-$usual}" >&2
            [ -n "$errors" ] && [ "$errors" != "$output" ] && link "$errors" "slurm-$job.err"
            touch "$state/pending" ;;
    esac
    rm -f -- "$note"
done
tail -n 100000 "$records" > "$records.new" && sed -i '1{/^job|/!i job|user|name|nodes|start|end|state|exit
}' "$records.new" && mv "$records.new" "$records"
find "$state/logs" -type l \( -mtime "+$days" -o -xtype l \) -delete
[ -e "$state/pending" ] && [ -n "$(find "$state/logs" -type l -print -quit)" ] || exit 0

columns=JobID,JobIDRaw,Cluster,User,State,ExitCode,Start,End,ElapsedRaw,NodeList,AllocTRES,JobName
if timeout 300 sacct -aPD -S "now-${days}days" -o "$columns" > "$state/sacct.new" 2> /dev/null && [ -s "$state/sacct.new" ]; then
    mv "$state/sacct.new" "$state/sacct.txt"
    records=$state/sacct.txt
fi
rm -f "$state/sacct.new"
timeout -k 60 "$limit" nice -n 19 "$postmortem" triage "$state/logs" --out "$out" --store "$store" --jobs "$records" \
    --workers "$workers" --memory "$memory" "$@" < /dev/null || exit $?
rm -f "$state/pending"
