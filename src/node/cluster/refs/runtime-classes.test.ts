import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { AbortedError } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createObjectServer, type ObjectServer } from "./__fixtures__/object-server.ts";
import { createRuntimeClasses, type RuntimeClasses } from "./runtime-classes.ts";

let clock: FakeClock;
let server: ObjectServer;
let classes: RuntimeClasses;
let controller: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = createFakeClock();
  server = createObjectServer();
  controller = new AbortController();
  classes = createRuntimeClasses({ client: server.client, clock, random: createSeededRandom(1), log: silentLog });
  running = Promise.resolve();
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

async function start() {
  running = classes.run(controller.signal);
  await classes.synced(controller.signal);
  await clock.settle();
}

const put = (name: string, handler: string) => server.put("runtimeclasses", { metadata: { name }, handler });
const podOf = (runtimeClassName?: string): Pod => ({
  spec: { containers: [], ...(runtimeClassName !== undefined && { runtimeClassName }) },
});
const handlerOf = async (name?: string) => classes.handlerOf(podOf(name), controller.signal);

describe("runtime classes", () => {
  it.each([undefined, ""])("are not asked about a pod without one (%j)", async (name) => {
    expect(await handlerOf(name)).toBe("");
    expect(server.calls).toEqual([]);
  });

  it("give the handler from their copy, as it is now", async () => {
    put("sandboxed", "runsc");
    await start();
    expect(await handlerOf("sandboxed")).toBe("runsc");
    put("sandboxed", "kata");
    expect(await handlerOf("sandboxed")).toBe("kata");
    expect(server.calls).toEqual(["list runtimeclasses "]);
  });

  it("give what they know without asking", async () => {
    const known = (name?: string) => classes.knownHandlerOf(podOf(name));
    put("sandboxed", "runsc");
    expect([known(), known(""), known("sandboxed")]).toEqual(["", "", undefined]);
    await start();
    expect([known("sandboxed"), known("missing")]).toEqual(["runsc", undefined]);
    server.remove("runtimeclasses", "", "sandboxed");
    expect(known("sandboxed")).toBeUndefined();
    expect(server.calls).toEqual(["list runtimeclasses "]);
  });

  it("ask for what the copy does not have yet", async () => {
    put("sandboxed", "runsc");
    expect(await handlerOf("sandboxed")).toBe("runsc");
    expect(server.calls).toEqual(["get runtimeclasses /sandboxed"]);
  });

  it("reject a missing one in upstream's words", async () => {
    await start();
    const error: unknown = await handlerOf("missing").catch((thrown: unknown) => thrown);
    expect(isApiError(error, "NotFound") && error.message).toBe('runtimeclass.node.k8s.io "missing" not found');
  });

  it("know theirs while the server is away, and say of others that it is", async () => {
    put("sandboxed", "runsc");
    await start();
    server.goAway();
    expect(await handlerOf("sandboxed")).toBe("runsc");
    await expect(handlerOf("other")).rejects.toThrow("failed to lookup RuntimeClass other: connect ECONNREFUSED");
  });

  it("end with the signal", async () => {
    server.hold();
    const answer = handlerOf("sandboxed");
    controller.abort();
    await expect(answer).rejects.toThrow(AbortedError);
  });
});
