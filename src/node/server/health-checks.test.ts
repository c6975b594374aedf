import { expect, it } from "vitest";
import { createHealthChecks } from "./health-checks.ts";

function setUp() {
  const errors: Record<string, string | undefined> = {};
  const checks = createHealthChecks(
    { ping: () => undefined, syncloop: () => errors["syncloop"] },
    { startedAt: Date.UTC(2026, 0, 1) },
  );
  const ask = async (target: string) => {
    const { pathname: path, searchParams: query } = new URL(target, "http://node");
    const answer = await checks.find(path)?.({ method: "GET", path, query });
    return answer && `${answer.status} ${answer.body}`;
  };
  return { errors, ask };
}

it.each([
  ["/healthz", "200 ok"],
  ["/healthz?verbose", "200 [+]ping ok\n[+]syncloop ok\nhealthz check passed\n"],
  ["/healthz?verbose=1&exclude=ping", "200 [+]ping excluded: ok\n[+]syncloop ok\nhealthz check passed\n"],
  ["/healthz/ping", "200 ok"],
  ["/healthz/__proto__", undefined],
  ["/healthz/", undefined],
  ["/healthzy", undefined],
])("%s: %s", async (target, expected) => {
  expect(await setUp().ask(target)).toBe(expected);
});

it("keeps to itself why something is not well, but on its own page", async () => {
  const { errors, ask } = setUp();
  errors["syncloop"] = "stuck";
  const failed = "500 [+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n";
  expect(await ask("/healthz")).toBe(failed);
  expect(await ask("/healthz/syncloop")).toBe("500 internal server error: stuck\n");
  expect(await ask("/healthz?exclude=syncloop")).toBe("200 ok");
  expect(await ask("/healthz?verbose&exclude=b&exclude=a&exclude=syncloop")).toBe(
    "200 [+]ping ok\n[+]syncloop excluded: ok\n" +
      'warn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
  );
});

it("counts what it said", async () => {
  const { errors, ask } = setUp();
  await ask("/healthz");
  errors["syncloop"] = "stuck";
  await ask("/healthz?exclude=ping");
  const page = (await ask("/metrics/slis"))?.split("\n").filter((line) => /^(kubernetes|process)_/.test(line));
  expect(page).toEqual([
    'kubernetes_healthcheck{name="ping",type="healthz"} 1',
    'kubernetes_healthcheck{name="syncloop",type="healthz"} 0',
    'kubernetes_healthchecks_total{name="ping",type="healthz",status="success"} 1',
    'kubernetes_healthchecks_total{name="syncloop",type="healthz",status="success"} 1',
    'kubernetes_healthchecks_total{name="syncloop",type="healthz",status="error"} 1',
    "process_start_time_seconds 1767225600",
  ]);
});
