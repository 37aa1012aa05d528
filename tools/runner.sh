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

close_table() {
  say
  printf '%s\n' "${table[@]}"
}

# suite NAME FUNCTION: runs it with its output in a log; the first failure ends the run.
suite() {
  local name=$1 log=$LOGS/$1.log start=$SECONDS code note
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
  table+=("$(printf '%-12s ok      %4d s  %s' "$name" $((SECONDS - start)) "$note")")
  say "${table[-1]}"
}

finish() {
  close_table
  say "$passed passed, 0 failed, $skipped skipped"
}
