import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Service, ServiceSpec } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createObjectServer, type ObjectServer } from "./__fixtures__/object-server.ts";
import { createServices, type Services } from "./services.ts";

let clock: FakeClock;
let server: ObjectServer;
let services: Services;
let controller: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = createFakeClock();
  server = createObjectServer();
  controller = new AbortController();
  services = createServices({ client: server.client, clock, random: createSeededRandom(1), log: silentLog });
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

async function start() {
  running = services.run(controller.signal);
  await clock.settle();
}

const put = (namespace: string, name: string, spec: ServiceSpec) =>
  server.put("services", { metadata: { namespace, name, labels: { app: "x" } }, spec, status: {} });
const names = (namespace: string) => services.list(namespace).map(({ metadata }: Service) => metadata?.name);

describe("services", () => {
  it("are those with a cluster IP, of the namespace, by name", async () => {
    put("default", "kubernetes", { clusterIP: "10.0.0.1" });
    put("default", "api", { clusterIP: "10.0.0.2" });
    put("default", "headless", { clusterIP: "None" });
    put("default", "external", { type: "ExternalName", externalName: "example.com" });
    put("default", "pending", { clusterIP: "" });
    put("other", "db", { clusterIP: "10.0.0.3" });
    await start();
    expect([names("default"), names("other"), names("none")]).toEqual([["api", "kubernetes"], ["db"], []]);
  });

  it("follow what changes", async () => {
    put("default", "a", { clusterIP: "10.0.0.1" });
    put("default", "b", { clusterIP: "10.0.0.2" });
    await start();
    put("default", "a", { clusterIP: "10.0.0.9" });
    put("default", "b", { type: "ExternalName", externalName: "example.com" });
    put("default", "c", { clusterIP: "10.0.0.3" });
    expect(services.list("default").map(({ spec }) => spec?.clusterIP)).toEqual(["10.0.0.9", "10.0.0.3"]);
    server.remove("services", "default", "a");
    server.remove("services", "default", "c");
    expect(names("default")).toEqual([]);
  });

  it("are kept without what no environment needs", async () => {
    put("default", "a", { clusterIP: "10.0.0.1" });
    await start();
    expect(services.list("default")).toEqual([
      {
        metadata: { namespace: "default", name: "a", uid: "uid-1", resourceVersion: "1" },
        spec: { clusterIP: "10.0.0.1" },
      },
    ]);
  });

  it("say when they were read once", async () => {
    server.hold();
    await start();
    expect(services.hasSynced).toBe(false);
    const synced = services.synced(controller.signal);
    server.release();
    await synced;
    expect(services.hasSynced).toBe(true);
  });

  it("are not asked for by a field that older servers do not know", async () => {
    await start();
    expect(server.calls).toEqual(["list services "]);
  });
});
