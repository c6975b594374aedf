import { describe, expect, it } from "vitest";
import { CodedError } from "../../../base/errors.ts";
import { fileError } from "../../../host/file-error.ts";
import { createPluginRig, csiPlugin, REGISTRY, type ScriptedPlugin } from "./__fixtures__/plugin-rig.ts";
import { MAX_PLUGIN_SOCKETS } from "./plugin-watcher.ts";

describe("a plugin's socket", () => {
  it("is registered when it was there before, and when it appears, and told so", async () => {
    const rig = createPluginRig();
    rig.put("old.sock", csiPlugin("old"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.put("new.sock", csiPlugin("new"));
    await rig.clock.settle();
    expect(rig.names()).toEqual(["old@old.sock", "new@new.sock"]);
    expect(rig.statuses).toEqual([
      { socket: `${REGISTRY}/old.sock`, registered: true, error: "" },
      { socket: `${REGISTRY}/new.sock`, registered: true, error: "" },
    ]);
    await stop();
    expect(rig.open()).toBe(0);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it("is deregistered when it is gone, and not when the node agent ends", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a"));
    rig.put("b.sock", csiPlugin("b"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.files.delete(`${REGISTRY}/a.sock`);
    await rig.clock.settle();
    expect(rig.names()).toEqual(["b@b.sock"]);
    await stop();
    expect(rig.names()).toEqual(["b@b.sock"]);
  });

  it("is registered anew when it was made anew, with what the new plugin says", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a", { endpoint: "/old" }));
    const { stop } = rig.run();
    await rig.clock.settle();
    await rig.clock.advance(5);
    rig.files.delete(`${REGISTRY}/a.sock`);
    rig.put("a.sock", csiPlugin("a", { endpoint: "/new" }));
    await rig.clock.settle();
    expect([...rig.registered].map(({ endpoint }) => endpoint)).toEqual(["/new"]);
    await stop();
  });

  it("stays registered while it is the same file, however often something else changes", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.files.put(`${REGISTRY}/readme`, "x");
    await rig.clock.advance(60_000);
    expect(rig.calls).toEqual([`getInfo ${REGISTRY}/a.sock`]);
    await stop();
  });

  it("is found below nested directories, also of one that came later, and is gone with its directory", async () => {
    const rig = createPluginRig();
    rig.put("x/y/a.sock", csiPlugin("a"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.put("z/b.sock", csiPlugin("b"));
    await rig.clock.settle();
    rig.put("z/c.sock", csiPlugin("c"));
    await rig.clock.settle();
    expect(rig.names()).toEqual(["a@x/y/a.sock", "b@z/b.sock", "c@z/c.sock"]);
    rig.files.delete(`${REGISTRY}/z`);
    await rig.clock.settle();
    expect(rig.names()).toEqual(["a@x/y/a.sock"]);
    await stop();
  });

  it.each<[string, (rig: ReturnType<typeof createPluginRig>) => void]>([
    ["begins with a dot", (rig) => rig.put(".a.sock", csiPlugin("a"))],
    ["is in a directory that begins with a dot", (rig) => rig.put(".x/a.sock", csiPlugin("a"))],
    ["is a file", (rig) => rig.files.put(`${REGISTRY}/a.sock`, "")],
    ["is a FIFO", (rig) => rig.files.putSpecial(`${REGISTRY}/a.sock`, "other")],
  ])("is left alone when it %s", async (_what, prepare) => {
    const rig = createPluginRig();
    prepare(rig);
    const { stop } = rig.run();
    await rig.clock.advance(60_000);
    expect(rig.calls).toEqual([]);
    await stop();
  });

  it("may be a link to one", async () => {
    const rig = createPluginRig();
    rig.files.putSpecial("/run/a.sock", "socket");
    await rig.files.makeDirectory(REGISTRY, 0o750);
    await rig.files.link("/run/a.sock", `${REGISTRY}/a.sock`);
    rig.plugins.set(`${REGISTRY}/a.sock`, csiPlugin("a"));
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.names()).toEqual(["a@a.sock"]);
    await stop();
  });

  it("serves its plugin itself when the plugin names no endpoint", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a", { endpoint: "" }));
    const { stop } = rig.run();
    await rig.clock.settle();
    expect([...rig.registered].map(({ endpoint }) => endpoint)).toEqual([`${REGISTRY}/a.sock`]);
    await stop();
  });
});

describe("a handshake that fails", () => {
  const refused = new CodedError("unavailable", "connection refused");
  const socket = `${REGISTRY}/a.sock`;
  const cases: ReadonlyArray<
    [what: string, plugin: ScriptedPlugin, handler: { invalid?: string; failure?: Error }, told: string, logged: string]
  > = [
    [
      "is said to the log when nobody answers",
      { info: refused },
      {},
      "",
      `RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket ${socket}, err: connection refused`,
    ],
    [
      "is told to a plugin that nobody handles",
      csiPlugin("a", { type: "DRAPlugin" }),
      {},
      `RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket ${socket}`,
      `RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket ${socket}`,
    ],
    [
      "is told to a plugin that is not valid",
      csiPlugin("a"),
      { invalid: "no such version" },
      "RegisterPlugin error -- plugin validation failed with err: no such version",
      "RegisterPlugin error -- plugin validation failed with err: no such version",
    ],
    [
      "is told to a plugin that its handler cannot take",
      csiPlugin("a"),
      { failure: new Error("no node ID") },
      "RegisterPlugin error -- plugin registration failed with err: no node ID",
      "RegisterPlugin error -- plugin registration failed with err: no node ID",
    ],
  ];

  it.each(cases)("%s, and tried again, later each time", async (_what, plugin, handler, told, logged) => {
    const rig = createPluginRig();
    if (handler.invalid !== undefined) rig.invalid.set("a", handler.invalid);
    if (handler.failure !== undefined) rig.failures.set("a", handler.failure);
    rig.put("a.sock", plugin);
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.statuses).toEqual(told === "" ? [] : [{ socket, registered: false, error: told }]);
    expect(rig.names()).toEqual([]);
    const failures = rig.logged.filter(({ message }) => message.startsWith("Registering a plugin failed"));
    expect(failures.map(({ level, fields }) => [level, fields["error"]])).toEqual([["warn", logged]]);

    const attemptsAfter = async (ms: number) => {
      await rig.clock.advance(ms);
      return rig.calls.length;
    };
    expect([await attemptsAfter(499), await attemptsAfter(1)]).toEqual([1, 2]);
    expect([await attemptsAfter(999), await attemptsAfter(1)]).toEqual([2, 3]);
    await rig.clock.advance(120_000);
    const before = rig.calls.length;
    expect([await attemptsAfter(30_000), await attemptsAfter(30_000)]).toEqual([before + 1, before + 2]);

    rig.invalid.clear();
    rig.failures.clear();
    rig.plugins.set(socket, csiPlugin("a"));
    await rig.clock.advance(30_000);
    expect(rig.names()).toEqual(["a@a.sock"]);
    await stop();
  });

  it("starts over with short waits when the socket is made anew", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", { info: refused });
    const { stop } = rig.run();
    await rig.clock.advance(120_000);
    rig.files.delete(socket);
    rig.put("a.sock", { info: refused });
    await rig.clock.settle();
    const before = rig.calls.length;
    await rig.clock.advance(500);
    expect(rig.calls.length).toBe(before + 1);
    await stop();
  });

  it("is over after ten seconds, and stalls no other plugin", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", { info: "hang" });
    rig.put("b.sock", csiPlugin("b"));
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.names()).toEqual(["b@b.sock"]);
    rig.plugins.set(socket, csiPlugin("a"));
    await rig.clock.advance(10_500);
    expect(rig.names()).toEqual(["b@b.sock", "a@a.sock"]);
    await stop();
  });

  it("is given up at once when the socket goes, and when the node agent ends", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", { info: "hang" });
    rig.put("b.sock", csiPlugin("b"));
    rig.failures.set("b", "hang");
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.files.delete(socket);
    await rig.clock.settle();
    expect(rig.open()).toBe(1);
    await stop();
    expect(rig.open()).toBe(0);
    expect(rig.names()).toEqual([]);
  });

  it.each<Error | "hang">([refused, "hang"])(
    "gives a plugin back that cannot be told that it is registered, and tries again (%s)",
    async (notify) => {
      const rig = createPluginRig();
      const plugin: ScriptedPlugin = { ...csiPlugin("a"), notify };
      rig.put("a.sock", plugin);
      const { stop } = rig.run();
      await rig.clock.advance(5_000);
      expect(rig.names()).toEqual([]);
      expect(rig.logged.map(({ fields }) => fields["error"])).toContainEqual(
        expect.stringContaining(
          `RegisterPlugin error -- failed to send registration status at socket ${socket}, err: `,
        ),
      );
      delete plugin.notify;
      await rig.clock.advance(10_000);
      expect(rig.names()).toEqual(["a@a.sock"]);
      expect(rig.statuses).toEqual([{ socket, registered: true, error: "" }]);
      await stop();
    },
  );

  it("deregisters a plugin that goes while it is told that it is registered", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", { ...csiPlugin("a"), notify: "hang" });
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.names()).toEqual(["a@a.sock"]);
    rig.files.delete(socket);
    await rig.clock.settle();
    expect(rig.names()).toEqual([]);
    await stop();
  });

  it("is tried again at once when another plugin of the name is gone", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("same"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.invalid.set("same", "another one is registered");
    rig.put("b.sock", csiPlugin("same"));
    await rig.clock.advance(120_000);
    rig.invalid.clear();
    rig.files.delete(socket);
    await rig.clock.settle();
    expect(rig.names()).toEqual(["same@b.sock"]);
    await stop();
  });

  it("of a path that no socket can have is a failure like others", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a"));
    rig.put("b.sock", csiPlugin("b"));
    rig.unconnectable.add(socket);
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.names()).toEqual(["b@b.sock"]);
    expect(rig.logged.map(({ fields }) => fields["error"])).toContain(
      `RegisterPlugin error -- dial failed at socket ${socket}, err: the path is too long`,
    );
    await stop();
  });
});

describe("the directory", () => {
  it("is made where it is absent, and left as it is where it is not", async () => {
    const absent = createPluginRig();
    const first = absent.run();
    await absent.clock.settle();
    expect(await absent.files.stat(REGISTRY)).toMatchObject({ type: "directory", mode: 0o750 });
    await first.stop();

    const present = createPluginRig();
    await present.files.makeDirectory(REGISTRY, 0o711);
    const second = present.run();
    await present.clock.settle();
    expect(await present.files.stat(REGISTRY)).toMatchObject({ mode: 0o711 });
    await second.stop();
  });

  it("is made and watched again after somebody removed it", async () => {
    const rig = createPluginRig();
    rig.put("a.sock", csiPlugin("a"));
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.files.delete(REGISTRY);
    await rig.clock.settle();
    expect(rig.names()).toEqual([]);
    rig.put("b.sock", csiPlugin("b"));
    await rig.clock.settle();
    expect(rig.names()).toEqual(["b@b.sock"]);
    await stop();
  });

  it("that cannot be made is tried again", async () => {
    const rig = createPluginRig();
    const restore = rig.files.intercept(({ operation, path }) => {
      if (operation === "makeDirectory") throw fileError("EROFS", "mkdir", path);
    });
    const { stop } = rig.run();
    await rig.clock.settle();
    restore();
    await rig.clock.advance(10_000);
    rig.put("a.sock", csiPlugin("a"));
    await rig.clock.settle();
    expect(rig.names()).toEqual(["a@a.sock"]);
    await stop();
  });

  it("that cannot be read for a while loses no plugin, and is said once", async () => {
    const rig = createPluginRig();
    rig.put("x/a.sock", csiPlugin("a"));
    rig.put("b.sock", csiPlugin("b"));
    const { stop } = rig.run();
    await rig.clock.settle();
    for (const broken of [`${REGISTRY}/x`, REGISTRY]) {
      const restore = rig.files.intercept(({ operation, path }) => {
        if (operation === "list" && path === broken) throw fileError("EACCES", "scandir", path);
      });
      await rig.clock.advance(40_000);
      expect(rig.names()).toEqual(["b@b.sock", "a@x/a.sock"]);
      restore();
      await rig.clock.advance(10_000);
    }
    const warnings = rig.logged.filter(({ level }) => level === "warn").map(({ fields }) => fields["error"]);
    expect(warnings).toEqual([expect.stringContaining(`${REGISTRY}/x: `), expect.stringContaining(`${REGISTRY}: `)]);
    await stop();
  });

  it("that cannot be watched is looked into every ten seconds", async () => {
    const rig = createPluginRig();
    rig.files.intercept(({ operation, path }) => {
      if (operation === "watch") throw fileError("ENOSPC", "watch", path);
    });
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.put("a.sock", csiPlugin("a"));
    await rig.clock.advance(9_000);
    expect(rig.names()).toEqual([]);
    await rig.clock.advance(1_000);
    expect(rig.names()).toEqual(["a@a.sock"]);
    await rig.clock.advance(60_000);
    expect(rig.logged.filter(({ message }) => message.startsWith("Cannot watch"))).toHaveLength(1);
    await stop();
  });

  it("may lose an event", async () => {
    const rig = createPluginRig();
    const { stop } = rig.run();
    await rig.clock.settle();
    rig.files.intercept(({ operation }) => {
      if (operation === "notify") throw new Error("lost");
    });
    rig.put("a.sock", csiPlugin("a"));
    await rig.clock.advance(10_000);
    expect(rig.names()).toEqual(["a@a.sock"]);
    await stop();
  });

  it("is asked soon, however many others never answer", async () => {
    const rig = createPluginRig();
    for (let index = 0; index < 100; index++) rig.put(`silent${index}.sock`, { info: "hang" });
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.open()).toBe(64);
    await rig.clock.advance(10_000);
    await rig.clock.advance(10_000);
    expect(new Set(rig.calls).size).toBe(100);
    // All of them have failed once by now, and are asked again a few at a time.
    expect(rig.open()).toBe(16);
    rig.put("new.sock", csiPlugin("new"));
    await rig.clock.settle();
    expect(rig.names()).toEqual(["new@new.sock"]);
    await stop();
  });

  it("of too many sockets has the first ones registered, and others when there is room", async () => {
    const rig = createPluginRig();
    for (let index = 0; index <= MAX_PLUGIN_SOCKETS; index++) {
      const name = `p${String(index).padStart(4, "0")}`;
      rig.put(`${name}.sock`, csiPlugin(name));
    }
    const { stop } = rig.run();
    await rig.clock.settle();
    expect(rig.registered.size).toBe(MAX_PLUGIN_SOCKETS);
    expect(rig.logged).toContainEqual(
      expect.objectContaining({ level: "warn", message: "Too many plugins, some are left alone" }),
    );
    // A plugin that comes before them by name takes no plugin's place.
    rig.put("a.sock", csiPlugin("a"));
    await rig.clock.settle();
    expect(rig.names()).toContain("p0999@p0999.sock");
    rig.files.delete(`${REGISTRY}/p0000.sock`);
    rig.files.delete(`${REGISTRY}/p0001.sock`);
    await rig.clock.settle();
    expect(rig.names()).toEqual(expect.arrayContaining(["a@a.sock", "p1000@p1000.sock"]));
    await stop();
  });
});

it("a handler's bug ends the watcher", async () => {
  const rig = createPluginRig();
  rig.put("a.sock", csiPlugin("a"));
  const { ended } = rig.run([
    {
      type: "CSIPlugin",
      validate: () => undefined,
      register: async () => undefined,
      deregister: () => {
        throw new Error("a bug");
      },
    },
  ]);
  await rig.clock.settle();
  rig.files.delete(`${REGISTRY}/a.sock`);
  await rig.clock.settle();
  await expect(ended).rejects.toThrow("a bug");
});
