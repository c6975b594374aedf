import { describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

/** What upstream's own test of them looks for, in 1.36. */
const START_CHECKS = [
  "poststarthook/start-apiserver-admission-initializer",
  "poststarthook/generic-apiserver-start-informers",
  "poststarthook/start-apiextensions-informers",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/crd-informer-synced",
  "poststarthook/bootstrap-controller",
  "poststarthook/start-system-namespaces-controller",
  "poststarthook/start-service-ip-repair-controllers",
  "poststarthook/scheduling/bootstrap-system-priority-classes",
  "poststarthook/start-cluster-authentication-info-controller",
  "poststarthook/start-kube-aggregator-informers",
  "poststarthook/apiservice-registration-controller",
  "poststarthook/apiservice-status-local-available-controller",
  "poststarthook/apiservice-status-remote-available-controller",
  "poststarthook/kube-apiserver-autoregistration",
  "autoregister-completion",
  "poststarthook/apiservice-openapi-controller",
  "poststarthook/storage-readiness",
];
/** The first minor version with all of them. */
const ALL_SINCE = 36;
const SOON = { timeout: 30_000, interval: 100 };

describe.each(apiServersUnderTest())("health checks, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const get = async (path: string) => await server.admin.json("GET", path);

  it.each([
    ["/healthz", ["etcd"]],
    ["/livez", ["etcd"]],
    ["/readyz", ["etcd", "etcd-readiness", "informer-sync", "shutdown"]],
  ])("are at %s those that upstream's users look for", async (path, others) => {
    const names = ["ping", "log", ...others, ...(server.minor < ALL_SINCE ? [] : START_CHECKS)];
    const lines = async () => String((await get(`${path}?verbose`)).body).split("\n");
    const expected = names.map((name) => `[+]${name} ok`);
    await expect.poll(lines, SOON).toEqual(expect.arrayContaining(expected));
    for (const name of names) expect(await get(`${path}/${name}`)).toMatchObject({ status: 200, body: "ok" });
  });

  it("are left out by name, which is told", async () => {
    const { body } = await get("/livez?verbose&exclude=ping&exclude=nobody");
    expect(String(body).split("\n")).toEqual(
      expect.arrayContaining([
        "[+]ping excluded: ok",
        'warn: some health checks cannot be excluded: no matches for "nobody"',
        "livez check passed",
      ]),
    );
  });
});
