import { throwIfAborted } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { PluginInfo, PluginRegistration } from "../../../plugin-registration/port.ts";
import type { Plugin, PluginHandler } from "./plugin-handler.ts";

/**
 * `unreachable`: the plugin did not describe itself. `refused`: it cannot be taken, and was told why. `failed`: its
 * handler could not take it, and it was told why.
 */
type PluginErrorCode = "unreachable" | "refused" | "failed";

/** Says why a plugin is not registered, in upstream's words. `plugin` is set where the plugin did describe itself. */
export class PluginError extends CodedError<PluginErrorCode> {
  override readonly name = "PluginError";
  readonly plugin: Plugin | undefined;

  constructor(
    code: PluginErrorCode,
    message: string,
    options: { readonly plugin?: Plugin | undefined; readonly cause?: unknown } = {},
  ) {
    super(code, message, "cause" in options ? { cause: options.cause } : {});
    this.plugin = options.plugin;
  }
}

export interface RegisterPluginDeps {
  /** The client need not connect before the first call. Throws for a path that no socket can have. */
  connect(socketPath: string): PluginRegistration;
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  readonly log: Log;
}

/** A plugin that was taken, and the handler that took it. */
export interface RegisteredPlugin {
  readonly plugin: Plugin;
  readonly handler: PluginHandler;
}

/** Upstream gives ten seconds to connect and then one to answer. Here ten seconds are the limit for both together. */
const GET_INFO_TIMEOUT_MS = 10 * SECOND;
const NOTIFY_TIMEOUT_MS = 5 * SECOND;

/**
 * Does one handshake: asks the plugin who it is, has the handler of its type validate and take it, and tells it the
 * outcome (upstream: pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go). Resolves when the handler has
 * taken it and the plugin knows. Rejects with a PluginError, or with AbortedError when the signal fired; then nothing is taken.
 */
export async function registerPlugin(
  deps: RegisterPluginDeps,
  socketPath: string,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  const registration = connect(deps, socketPath);
  try {
    return await shakeHands({ ...deps, registration }, socketPath, signal);
  } finally {
    registration.close();
  }
}

type HandshakeDeps = RegisterPluginDeps & { readonly registration: PluginRegistration };

function connect(deps: RegisterPluginDeps, socketPath: string): PluginRegistration {
  try {
    return deps.connect(socketPath);
  } catch (error) {
    const reason = `dial failed at socket ${socketPath}, err: ${messageOf(error)}`;
    throw new PluginError("unreachable", `RegisterPlugin error -- ${reason}`, { cause: error });
  }
}

async function shakeHands(deps: HandshakeDeps, socketPath: string, signal: AbortSignal): Promise<RegisteredPlugin> {
  const info = await getInfo(deps, socketPath, signal);
  const plugin: Plugin = {
    type: info.type,
    name: info.name,
    endpoint: info.endpoint === "" ? socketPath : info.endpoint,
    socketPath,
    supportedVersions: info.supportedVersions,
  };
  const refuse = async (code: "refused" | "failed", message: string, cause?: unknown): Promise<never> => {
    await tellRefused(deps, { plugin, error: message }, signal);
    throw new PluginError(code, message, { plugin, cause });
  };

  const handler = deps.handlers.get(info.type);
  if (handler === undefined) {
    const reason = `no handler registered for plugin type: ${info.type} at socket ${socketPath}`;
    return await refuse("refused", `RegisterPlugin error -- ${reason}`);
  }
  const invalid = handler.validate(plugin);
  if (invalid !== undefined) {
    return await refuse("refused", `RegisterPlugin error -- plugin validation failed with err: ${invalid}`);
  }
  const failure = await attempt(async () => handler.register(plugin, signal));
  if (failure !== undefined) {
    throwIfAborted(signal);
    const reason = `plugin registration failed with err: ${messageOf(failure.error)}`;
    return await refuse("failed", `RegisterPlugin error -- ${reason}`, failure.error);
  }
  return await tellRegistered(deps, { plugin, handler }, signal);
}

async function getInfo({ registration }: HandshakeDeps, socketPath: string, signal: AbortSignal): Promise<PluginInfo> {
  try {
    return await registration.getInfo({ timeoutMs: GET_INFO_TIMEOUT_MS, signal });
  } catch (error) {
    throwIfAborted(signal);
    const reason = `failed to get plugin info using RPC GetInfo at socket ${socketPath}, err: ${messageOf(error)}`;
    throw new PluginError("unreachable", `RegisterPlugin error -- ${reason}`, { cause: error });
  }
}

/**
 * A plugin that cannot be told that it is registered is given back, as upstream has it in 1.36, and the caller tries
 * again: a plugin may wait for the word before it serves. When the signal fires meanwhile, it is the caller who gives back.
 */
async function tellRegistered(
  { registration }: HandshakeDeps,
  registered: RegisteredPlugin,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  const { plugin, handler } = registered;
  try {
    await registration.notify({ registered: true, error: "" }, { timeoutMs: NOTIFY_TIMEOUT_MS, signal });
  } catch (error) {
    if (signal.aborted) return registered;
    handler.deregister(plugin);
    const reason = `failed to send registration status at socket ${plugin.socketPath}, err: ${messageOf(error)}`;
    throw new PluginError("failed", `RegisterPlugin error -- ${reason}`, { plugin, cause: error });
  }
  return registered;
}

/** A plugin that does not hear that it is refused is refused all the same. Rejects with AbortedError only. */
async function tellRefused(
  { registration, log }: HandshakeDeps,
  { plugin, error }: { readonly plugin: Plugin; readonly error: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await registration.notify({ registered: false, error }, { timeoutMs: NOTIFY_TIMEOUT_MS, signal });
  } catch (thrown) {
    throwIfAborted(signal);
    const message = `RegisterPlugin error -- failed to send error at socket ${plugin.socketPath}, err: ${messageOf(thrown)}`;
    log.warn("A plugin could not be told that it is not registered", { plugin: plugin.name, error: message });
  }
}

async function attempt(action: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return { error };
  }
}
