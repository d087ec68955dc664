#!/usr/bin/env bash
# Starts compose.yaml under a separate project name with fresh passwords, uploads a report, reads it back, restarts every
# service once, reads it again, and removes everything. Needs Docker with Compose 2; touches no other project and no .env.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder="$(mktemp -d)"
export PORT="${PORT:-3999}"
awk '/_PASSWORD=$/ { "openssl rand -hex 24" | getline p; close("openssl rand -hex 24"); $0 = $0 p } 1' .env.example |
  sed '/^PORT=/d' >"$folder/env"
compose() { docker compose --project-name "ci-insights-smoke-$$" --env-file "$folder/env" "$@"; }
finish() {
  local status=$?
  if [ "$status" -ne 0 ]; then compose logs --tail 50 || true; fi
  compose down --volumes --timeout 40 >/dev/null 2>&1 || true
  rm -rf "$folder"
  if [ "$status" -eq 0 ]; then echo 'smoke: passed'; else echo 'smoke: FAILED' >&2; fi
  exit "$status"
}
trap finish EXIT

compose up --build --detach --wait --wait-timeout 300
token="$(compose exec -T api ci-insights keys create --owner acme --scope upload --json | sed -n 's/.*"token": "\(.*\)".*/\1/p')"
test -n "$token"

echo '<testsuite><testcase classname="cart.Totals" name="sums"/><testcase classname="cart.Totals" name="adds"/></testsuite>' >"$folder/unit.xml"
base="http://127.0.0.1:$PORT/v1/ci/acme/repositories/shop"
curl --fail --silent --show-error -H "Authorization: Bearer $token" --data-binary "@$folder/unit.xml" \
  "$base/junit?pipeline_name=CI&job_name=unit&run_id=1&branch=main&commit=1f3a9c2" >/dev/null

# Prints how many tests are found. Waits until there are that many, because storing takes a moment.
found() {
  for _ in $(seq 60); do
    answer="$(curl --silent -H "Authorization: Bearer $token" "$base/search/tests?test_name=cart.*" || true)"
    case "$answer" in '{"size":2,'*) return 0 ;; esac
    sleep 1
  done
  echo "smoke: expected 2 tests, got: $answer" >&2
  return 1
}
found
compose exec -T api ci-insights doctor
compose exec -T api ci-insights verify

# Metrics are reachable from inside only.
compose exec -T worker bun -e 'const text = await (await fetch("http://127.0.0.1:9464/metrics")).text(); process.exit(text.includes("ci_insights_executions_stored_total 2") ? 0 : 1)'

for service in worker api valkey clickhouse postgres; do compose restart --timeout 40 "$service"; done
compose up --detach --wait --wait-timeout 300
found
