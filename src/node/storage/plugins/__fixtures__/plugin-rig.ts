import { sleep } from "../../../../base/abort.ts";
import { CodedError } from "../../../../base/errors.ts";
import type { LogFields } from "../../../../base/log.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { PluginInfo, PluginRegistration, PluginStatus } from "../../../../plugin-registration/port.ts";
import type { Plugin, PluginHandler } from "../plugin-handler.ts";
import { createPluginWatcher } from "../plugin-watcher.ts";

export const REGISTRY = "/var/lib/kubelet/plugins_registry";

/** The plugin behind a registration socket. `hang` means that it accepts the connection and never answers. */
export interface ScriptedPlugin {
  info: PluginInfo | Error | "hang";
  notify?: Error | "hang";
}

export const csiPlugin = (name: string, more: Partial<PluginInfo> = {}): ScriptedPlugin => ({
  info: { type: "CSIPlugin", name, endpoint: `/plugins/${name}/csi.sock`, supportedVersions: ["1.0.0"], ...more },
});

/** A watcher over fake files, plugins that behave as the test tells them, and a handler that notes what it is given. */
export function createPluginRig() {
  const { clock, files } = createFakeHost();
  const plugins = new Map<string, ScriptedPlugin>();
  const statuses: Array<PluginStatus & { socket: string }> = [];
  const logged: Array<{ level: string; message: string; fields: LogFields }> = [];
  const registered = new Set<Plugin>();
  const calls: string[] = [];
  let open = 0;

  const answer = async <T>(
    value: T | Error | "hang",
    call: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<T> => {
    call.signal?.throwIfAborted();
    if (value instanceof Error) throw value;
    if (value !== "hang") return value;
    await sleep(clock, call.timeoutMs ?? Number.POSITIVE_INFINITY, call.signal);
    throw new CodedError("deadline-exceeded", "the call took too long");
  };

  const unconnectable = new Set<string>();
  const connect = (socket: string): PluginRegistration => {
    if (unconnectable.has(socket)) throw new CodedError("invalid-endpoint", "the path is too long");
    open++;
    return {
      getInfo: async (call) => {
        calls.push(`getInfo ${socket}`);
        const absent = new CodedError("unavailable", "connection refused");
        return answer<PluginInfo>(plugins.get(socket)?.info ?? absent, call);
      },
      notify: async (status, call) => {
        await answer<undefined>(plugins.get(socket)?.notify, call);
        statuses.push({ socket, ...status });
      },
      close: () => void open--,
    };
  };

  const rig = {
    clock,
    files,
    plugins,
    statuses,
    logged,
    registered,
    calls,
    unconnectable,
    /** The problems that the handler's `validate` reports, by plugin name. */
    invalid: new Map<string, string>(),
    failures: new Map<string, Error | "hang">(),
    open: () => open,
    names: () => [...registered].map(({ name, socketPath }) => `${name}@${socketPath.slice(REGISTRY.length + 1)}`),
    /** Puts a socket and the plugin behind it. */
    put(name: string, plugin: ScriptedPlugin) {
      plugins.set(`${REGISTRY}/${name}`, plugin);
      files.putSpecial(`${REGISTRY}/${name}`, "socket");
    },
    run(handlers: readonly PluginHandler[] = [handler]) {
      const controller = new AbortController();
      const watcher = createPluginWatcher({ clock, files, log: noteLog(), connect }, { directory: REGISTRY, handlers });
      const ended = watcher.run(controller.signal);
      ended.catch(() => undefined);
      return {
        watcher,
        ended,
        stop: async () => {
          controller.abort();
          await ended;
        },
      };
    },
  };
  const noteLog = () => {
    const note =
      (level: string) =>
      (message: string, fields: LogFields = {}) => {
        logged.push({ level, message, fields });
      };
    const log = {
      error: note("error"),
      warn: note("warn"),
      info: note("info"),
      debug: note("debug"),
      with: () => log,
    };
    return log;
  };
  const handler: PluginHandler = {
    type: "CSIPlugin",
    validate: ({ name }) => rig.invalid.get(name),
    async register(plugin, signal) {
      await answer<undefined>(rig.failures.get(plugin.name), { signal });
      signal.throwIfAborted();
      registered.add(plugin);
    },
    deregister: (plugin) => void registered.delete(plugin),
  };
  return rig;
}
