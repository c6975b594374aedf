import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../../api/gen/types.ts";
import { apiPod, createReporterRig } from "./__fixtures__/reporter-rig.ts";

/** A server that keeps only the fields of a status that it knows. */
async function setUp(decode: (status: PodStatus) => PodStatus) {
  const rig = createReporterRig();
  rig.api.decode = decode;
  await rig.add(apiPod("a"));
  void rig.start();
  return rig;
}

const withoutHostIps = ({ hostIPs: _unknown, ...known }: PodStatus): PodStatus => known;

/** kube-apiserver drops `hostIPs` before 1.28, and the `volumeMounts` of containers before 1.30. */
describe("a server that drops a field", () => {
  const status = { phase: "Running", hostIP: "192.0.2.1", hostIPs: [{ ip: "192.0.2.1" }] };

  it("is asked for it once, and again only together with news", async () => {
    const rig = await setUp(withoutHostIps);
    rig.statuses.set(apiPod("a"), status);
    await rig.clock.advance(60_000);
    expect(rig.api.requests).toEqual(["patch a"]);
    rig.statuses.set(apiPod("a"), { ...status, message: "news" });
    await rig.clock.advance(60_000);
    expect(rig.api.requests).toHaveLength(2);
    expect(rig.api.get("a")?.status?.message).toBe("news");
  });

  it("of a list's items is not asked for it after every change of the list", async () => {
    const rig = await setUp(({ containerStatuses = [], ...known }) => ({
      ...known,
      containerStatuses: containerStatuses.map(({ volumeMounts: _unknown, ...container }) => container),
    }));
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    const main = { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, volumeMounts };
    for (let restartCount = 0; restartCount < 3; restartCount++) {
      rig.statuses.set(apiPod("a"), { phase: "Running", containerStatuses: [{ ...main, restartCount }] });
      await rig.clock.advance(60_000);
    }
    expect(rig.api.get("a")?.status?.containerStatuses).toMatchObject([{ name: "main", restartCount: 2 }]);
    expect(rig.api.requests).toHaveLength(3);
  });

  it("is asked again for what it knows and somebody else takes away", async () => {
    const rig = await setUp(withoutHostIps);
    rig.statuses.set(apiPod("a"), status);
    await rig.clock.advance(1_000);
    rig.api.change("a", (pod) => ({ ...pod, status: { phase: "Running" } }));
    await rig.clock.advance(1_000);
    expect(rig.api.get("a")?.status?.hostIP).toBe("192.0.2.1");
  });
});
