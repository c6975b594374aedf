import { describe, expect, test } from "vitest";
import { createHealthResults } from "../../base/health-results.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { ANSWERING_CHECKS, answerHealth, createStoreChecks } from "./health-checks.ts";

const CHECKS = [
  ...ANSWERING_CHECKS,
  { name: "poststarthook/slow", check: async () => await Promise.resolve("the secret reason") },
  { name: "informer-sync", isForReadiness: true, check: () => undefined },
];

const ask = async (path: string, query = "", healthChecks = CHECKS) => {
  const deps = { healthChecks, healthResults: createHealthResults(0), log: silentLog };
  return await answerHealth(deps, { query: new URLSearchParams(query) }, path);
};

describe("health checks", () => {
  test.each([
    [
      "/livez",
      "verbose",
      500,
      "[+]ping ok\n[+]log ok\n[-]poststarthook/slow failed: reason withheld\nlivez check failed\n",
    ],
    [
      ...["/readyz", "verbose&exclude=poststarthook/slow&exclude=log"],
      200,
      "[+]ping ok\n[+]log excluded: ok\n[+]poststarthook/slow excluded: ok\n[+]informer-sync ok\nreadyz check passed\n",
    ],
    ["/healthz", "exclude=poststarthook/slow", 200, "ok"],
    [
      ...["/healthz", "verbose&exclude=poststarthook/slow&exclude=nobody&exclude=informer-sync"],
      200,
      '[+]ping ok\n[+]log ok\n[+]poststarthook/slow excluded: ok\nwarn: some health checks cannot be excluded: no matches for "informer-sync","nobody"\nhealthz check passed\n',
    ],
    ["/livez/ping", "verbose", 200, "ok"],
    ["/livez/poststarthook/slow", "", 500, "internal server error: the secret reason\n"],
  ] as const)("%s?%s answers %d", async (path, query, status, body) => {
    expect(await ask(path, query)).toMatchObject({ status, body });
  });

  test.each(["/livez/", "/livez/nobody", "/livez/informer-sync", "/livezzz", "/other"])(
    "none is at %s",
    async (path) => {
      expect(await ask(path)).toBeUndefined();
    },
  );
});

describe("the checks of the store", () => {
  const setUp = (untilDurable: () => Promise<void>) => {
    const clock = createFakeClock();
    const [check] = createStoreChecks({ headRevision: 7, untilDurable }, clock);
    return { clock, result: check?.check() };
  };

  test("pass when everything that was written is on the disk", async () => {
    expect(await setUp(async () => await Promise.resolve()).result).toBeUndefined();
  });

  test("pass when the disk has no room for it, because reads go on and a restart would mend nothing", async () => {
    const { result } = setUp(async () => await Promise.reject(new Error("no space left")));
    expect(await result).toBeUndefined();
  });

  test("fail when the disk does not answer for two seconds", async () => {
    const { clock, result } = setUp(async () => await new Promise(() => undefined));
    await clock.advance(2_000);
    expect(await result).toBe("writing to the disk took longer than 2000 ms");
  });
});
