import fc from "fast-check";
import { expect, it } from "vitest";
import { sleep } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { fileError } from "../../../host/file-error.ts";
import type { PluginRegistration } from "../../../plugin-registration/port.ts";
import { createPluginWatcher } from "../plugins/plugin-watcher.ts";
import { createStubDrivers, nodeInfo } from "./__fixtures__/stub-drivers.ts";
import { createCsiDriverRegistry } from "./csi-driver-registry.ts";

const REGISTRY = "/plugins_registry";
const SOCKETS = [`${REGISTRY}/a.sock`, `${REGISTRY}/b.sock`, `${REGISTRY}/x/c.sock`] as const;
const SECOND = 1_000;

type Fault = "refuses" | "hangs" | "driver fails" | "driver hangs" | "does not listen to its notice";

interface Live {
  readonly name: string;
  readonly version: string;
  readonly endpoint: string;
  fault: Fault | undefined;
}

/** A node with plugins that come and go, the real watcher and the real registry. */
function createNode() {
  const { clock, files } = createFakeHost();
  const live = new Map<string, Live>();
  const told = new Map<string, boolean>();
  const stubs = createStubDrivers(clock);
  let made = 0;

  const connectRegistration = (socketPath: string): PluginRegistration => {
    const plugin = live.get(socketPath);
    const pass = async (fault: Fault, timeoutMs: number | undefined, signal: AbortSignal | undefined) => {
      signal?.throwIfAborted();
      if (live.get(socketPath) !== plugin || plugin === undefined || plugin.fault === "refuses") {
        throw new CodedError("unavailable", "connection refused");
      }
      if (plugin.fault !== fault) return plugin;
      await sleep(clock, timeoutMs ?? Number.MAX_SAFE_INTEGER, signal);
      throw new CodedError("deadline-exceeded", "too late");
    };
    return {
      async getInfo({ timeoutMs, signal } = {}) {
        const { name, endpoint, version } = await pass("hangs", timeoutMs, signal);
        return { type: "CSIPlugin", name, endpoint, supportedVersions: [version] };
      },
      async notify({ registered }, { timeoutMs, signal } = {}) {
        const { endpoint } = await pass("does not listen to its notice", timeoutMs, signal);
        told.set(endpoint, registered);
      },
      close: () => undefined,
    };
  };
  const registry = createCsiDriverRegistry({ clock, connect: stubs.connect, nodeLabels: () => ({}) });
  const watcher = createPluginWatcher(
    { clock, files, log: silentLog, connect: connectRegistration },
    { directory: REGISTRY, handlers: [registry.handler] },
  );

  const apply = ({ endpoint }: Live, fault: Fault | undefined) => {
    const broken = { info: new CodedError("internal", "broken") };
    const driver = fault === "driver hangs" ? { info: "hang" as const } : { info: nodeInfo(endpoint) };
    stubs.drivers.set(endpoint, fault === "driver fails" ? broken : driver);
  };
  return {
    clock,
    files,
    live,
    told,
    registry,
    open: stubs.open,
    run: watcher.run,
    /** Also in the place of one that is there. */
    appear(socket: string, plugin: Pick<Live, "name" | "version" | "fault">) {
      const next = { ...plugin, endpoint: `/endpoint-${++made}` };
      live.set(socket, next);
      apply(next, plugin.fault);
      files.putSpecial(socket, "socket");
    },
    vanish(socket: string) {
      live.delete(socket);
      if (socket.includes("/x/")) files.delete(`${REGISTRY}/x`);
      else files.delete(socket);
    },
    heal() {
      for (const plugin of live.values()) {
        plugin.fault = undefined;
        apply(plugin, undefined);
      }
    },
  };
}

const plugin = fc.record({
  name: fc.constantFrom("one", "two"),
  version: fc.constantFrom("1.0.0", "1.0.0", "1.1.0"),
  fault: fc.constantFrom<Fault | undefined>(
    undefined,
    undefined,
    "refuses",
    "hangs",
    "driver fails",
    "driver hangs",
    "does not listen to its notice",
  ),
});
const happening = fc.record({
  socket: fc.constantFrom(...SOCKETS),
  what: fc.oneof(
    plugin.map((appears) => ({ kind: "appear", plugin: appears }) as const),
    plugin.map((appears) => ({ kind: "replace", plugin: appears }) as const),
    fc.constant({ kind: "vanish" } as const),
    fc.constant({ kind: "heal" } as const),
    fc.constant({ kind: "directory goes" } as const),
  ),
  thenMs: fc.constantFrom(0, 0, 1, 300, 600, 5 * SECOND, 40 * SECOND),
  /** The state of the machine while this happens. */
  trouble: fc.constantFrom("none", "none", "notices are lost", "nothing can be read"),
});

it("whatever happens, in the end the registry holds the newest plugins of the sockets that are there", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 25 }), async (happenings) => {
      const node = createNode();
      const controller = new AbortController();
      const ended = node.run(controller.signal);
      for (const { socket, what, thenMs, trouble } of happenings) {
        const restore = node.files.intercept(({ operation, path }) => {
          if (trouble === "notices are lost" && operation === "notify") throw new Error("lost");
          if (trouble === "nothing can be read" && operation === "list") throw fileError("EACCES", "scandir", path);
        });
        if (what.kind === "replace" && node.live.has(socket)) node.vanish(socket);
        if (what.kind === "appear" || what.kind === "replace") {
          if (!node.live.has(socket)) node.appear(socket, what.plugin);
        } else if (what.kind === "heal") {
          node.heal();
        } else if (what.kind === "directory goes") {
          node.files.delete(REGISTRY);
          node.live.clear();
        } else if (node.live.has(socket)) {
          node.vanish(socket);
        }
        await node.clock.advance(thenMs);
        restore();
      }
      node.heal();
      // The longest waits: a driver that hangs for two minutes, then the longest back-off.
      await node.clock.advance(300 * SECOND);
      expectInLine(node);
      controller.abort();
      await ended;
      expectInLine(node);
      node.registry.close();
      expect(node.open).toEqual([]);
      expect(node.clock.pendingTimers).toBe(0);
    }),
    { numRuns: 400 },
  );
});

function expectInLine({ live, registry, open, told }: ReturnType<typeof createNode>): void {
  const plugins = [...live.values()];
  const names = [...new Set(plugins.map(({ name }) => name))].sort();
  expect(registry.list().map(({ name }) => name)).toEqual(names);
  expect([...registry.facts().removed].filter((name) => names.includes(name))).toEqual([]);
  for (const name of names) {
    const ofName = plugins.filter((candidate) => candidate.name === name);
    const highest = ofName
      .map(({ version }) => version)
      .sort()
      .at(-1);
    const best = ofName.filter(({ version }) => version === highest).map(({ endpoint }) => endpoint);
    expect(best).toContain(registry.get(name)?.nodeInfo.nodeId);
    for (const endpoint of best) expect([endpoint, told.get(endpoint) ?? true]).toEqual([endpoint, true]);
    for (const endpoint of best) expect(open).toContain(endpoint);
  }
  const endpoints = plugins.map(({ endpoint }) => endpoint);
  expect(open.filter((endpoint) => !endpoints.includes(endpoint))).toEqual([]);
}
