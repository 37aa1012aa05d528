# shellcheck shell=bash
# Runs suites with their output in logs, and prints the table of what they gave.
# Read by ./x.

table=()
passed=0
skipped=0

# Adds what the runners' closing lines in a log say to the totals.
count_tests() {
  local log=$1 total left
  read -r total left < <(awk '
    /^test result: ok\./ { ran += $4; left += $8 }
    /tests passed, 0 tests failed out of/ { ran += $NF }
    /\(Skipped\)$/ { ran -= 1; left += 1 }
    /^Ran [0-9]+ test/ { ran += $2 }
    /^[0-9]+ passed/ { ran += $1 }
    END { print ran + 0, left + 0 }' "$log")
  passed=$((passed + total))
  skipped=$((skipped + left))
  if ((total + left)); then
    printf '%d passed' "$total"
    ((left)) && printf ', %d skipped' "$left"
  fi
}

# Seconds of processor time that this shell's finished children took, in hundredths.
children_time() {
  local stat
  read -r -a stat <"/proc/$$/stat" 2>/dev/null || stat=()
  echo $(((${stat[15]:-0} + ${stat[16]:-0}) * 100 / $(getconf CLK_TCK)))
}

# minutes HUNDREDTHS: as "12.3", of seconds.
minutes() { printf '%d.%d' $(($1 / 6000)) $(($1 % 6000 / 600)); }

close_table() {
  say
  printf '%s\n' "${table[@]}"
}

# suite NAME FUNCTION: runs it with its output in a log; the first failure ends the run.
suite() {
  local name=$1 log=$LOGS/$1.log start=$SECONDS before code note
  before=$(children_time)
  mkdir -p "$LOGS"
  printf '%-12s ...\n' "$name"
  (
    set -e
    "$2"
  ) >"$log" 2>&1 </dev/null
  code=$?
  if ((code)); then
    table+=("$(printf '%-12s FAILED  %4d s  see %s' "$name" $((SECONDS - start)) "$log")")
    say "---- failures in $log, then its end"
    grep -nE '(^| )(FAILED|\*\*\*Failed)|panicked at|^error|^FAIL: |^Diff in ' "$log" | head -n 40
    tail -n 80 "$log"
    close_table
    say "$passed passed, 1 failed, $skipped skipped"
    say "x: the suite $name failed"
    exit 1
  fi
  count_tests "$log" >"$LOGS/count"
  note=$(cat "$LOGS/count")
  grep -h '^skipped: ' "$log" | sed 's/^/    /' | sort -u
  table+=("$(printf '%-12s ok      %4d s  %5s CPU min  %s' "$name" $((SECONDS - start)) \
    "$(minutes $(($(children_time) - before)))" "$note")")
  say "${table[-1]}"
}

finish() {
  close_table
  say "$(minutes "$(children_time)") CPU minutes"
  say "$passed passed, 0 failed, $skipped skipped"
}
