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
mkdir -p "$state/logs" "$out" || exit 1
exec 9> "$state/lock"
flock -n 9 || exit 0

ended() { # the state of a job whose note has none: of the accounting, else by its exit code
    local said
    said=$(timeout 20 sacct -nXP -j "$1" -o State 2> /dev/null | tail -1)
    if [ -n "$said" ]; then echo "${said%% *}"; elif [ "$2" = 0:0 ]; then echo COMPLETED; else echo FAILED; fi
}

path() { # a path as Slurm makes it of a pattern; fails at what only the node can fill in
    local text=$1 made='' width value
    while [[ $text =~ ^([^%]*)%([0-9]*)(.)(.*)$ ]]; do
        made+=${BASH_REMATCH[1]} width=${BASH_REMATCH[2]}
        case ${BASH_REMATCH[3]} in
            j | J) value=$number ;; A) value=${array:-$number} ;; a) value=${task:-4294967294} ;;
            u) value=$user ;; x) value=$name ;; b) value=$(( ${task:-0} % 10 )) ;; %) value=% ;; *) return 1 ;;
        esac
        text=${BASH_REMATCH[4]}
        [[ -n $width && $value =~ ^[0-9]+$ ]] && printf -v value "%0${width:0:2}d" "$((10#$value))"
        made+=$value
    done
    made+=$text
    [[ $made == /* ]] || made=$folder/$made
    echo "$made"
}

link() { # names a log by its job's id, if it is the user's own file
    local file
    file=$(path "$1") || return 1
    [ "$(stat -Lc '%u %F' -- "$file" 2> /dev/null)" = "$owner regular file" ] && ln -sfn -- "$file" "$state/logs/$2"
}

records=$state/ended.txt # what the notes say of every job, failed or not; `--jobs` where there is no accounting
[ -s "$records" ] || echo 'job|user|name|nodes|start|end|state|exit' > "$records"
for note in "$spool"/*.job; do
    [ -f "$note" ] || continue
    {
        read -r number; read -r array; read -r task; read -r ending; read -r code; read -r owner; read -r user
        read -r name; read -r nodes; read -r start; read -r end; read -r folder; read -r output; read -r errors
    } < "$note"
    [ -n "$ending" ] || ending=$(ended "$number" "$code")
    job=$number usual=slurm-%j.out
    [ -n "$array" ] && job=${array}_$task usual=slurm-%A_%a.out
    echo "$job|$user|${name//|/ }|$nodes|$start|$end|$ending|$code" >> "$records"
    case $ending in
        COMPLETED | CANCELLED* | REVOKED | REQUEUED | '') ;;
        *)
            link "${output:-$usual}" "slurm-$job.out" || echo "job $job: no file of its user at ${output:-$usual}" >&2
            [ -n "$errors" ] && [ "$errors" != "$output" ] && link "$errors" "slurm-$job.err"
            touch "$state/pending"
            ;;
    esac
    rm -f -- "$note"
done
find "$state/logs" -type l \( -mtime "+$days" -o -xtype l \) -delete
[ -e "$state/pending" ] && [ -n "$(find "$state/logs" -type l -print -quit)" ] || exit 0

columns=JobID,JobIDRaw,Cluster,User,JobName,State,ExitCode,Start,End,ElapsedRaw,NodeList,AllocTRES,SubmitLine
if timeout 300 sacct -aPD -S "now-${days}days" -o "$columns" > "$state/sacct.new" 2> /dev/null && [ -s "$state/sacct.new" ]; then
    mv "$state/sacct.new" "$state/sacct.txt"
    records=$state/sacct.txt
fi
timeout -k 60 "$limit" nice -n 19 "$postmortem" triage "$state/logs" --out "$out" --store "$store" --jobs "$records" \
    --workers "$workers" --memory "$memory" "$@" < /dev/null || exit $?
rm -f "$state/pending"
