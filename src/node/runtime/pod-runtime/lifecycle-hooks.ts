import type { Container, HTTPGetAction, LifecycleHandler } from "../../../api/gen/types.ts";
import { sleep } from "../../../base/abort.ts";
import { assertNever } from "../../../base/assert.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Host, HttpRequest } from "../../../host/port.ts";
import type { HookMetrics } from "./metrics.ts";

interface HookTarget {
  containerId: string;
  container: Container;
  /** The pod's first address, for httpGet without a host. */
  podIp: string | undefined;
}

/** How long the hook may take, and the signal that ends it early. */
interface HookOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

/** What runs a hook, and what counts its outcomes. */
interface HookDeps {
  runtime: Cri["runtime"];
  host: Host;
  metrics: HookMetrics | undefined;
  /** Told, in words for the event LifecycleHTTPFallback, of a server that was to speak https and speaks http. */
  onHttpFallback(message: string): void;
}

/** The most bytes that are read of a hook's response, as in pkg/kubelet/lifecycle/handlers.go. */
const MAX_RESPONSE_BYTES = 10 * 1024;

/**
 * Runs a postStart or preStop handler to its end. Returns what went wrong, in words for an event; undefined where
 * nothing did. Rejects only when the signal fires.
 */
export async function runLifecycleHook(
  deps: HookDeps,
  handler: LifecycleHandler,
  target: HookTarget,
  options: HookOptions,
): Promise<string | undefined> {
  const kind = kindOf(handler);
  try {
    switch (kind) {
      case "exec":
        return await runExec(deps.runtime, handler.exec?.command ?? [], target, options);
      case "httpGet":
        return await runHttpGet(deps, handler.httpGet, target, options);
      case "sleep":
        return await runSleep(deps, (handler.sleep?.seconds ?? 0) * 1000, options);
      case "tcpSocket":
        return "tcpSocket is not supported as a lifecycle handler";
      case "none":
        return "the handler names no action";
      default:
        return assertNever(kind, "lifecycle handler");
    }
  } catch (error) {
    if (options.signal.aborted) throw error;
    return messageOf(error);
  }
}

function kindOf(handler: LifecycleHandler): "exec" | "httpGet" | "sleep" | "tcpSocket" | "none" {
  if (handler.exec) return "exec";
  if (handler.httpGet) return "httpGet";
  if (handler.sleep) return "sleep";
  return handler.tcpSocket ? "tcpSocket" : "none";
}

async function runExec(
  runtime: Cri["runtime"],
  command: string[],
  target: HookTarget,
  { timeoutMs, signal }: HookOptions,
): Promise<string | undefined> {
  const timeoutSeconds = Math.max(1, Math.ceil(timeoutMs / 1000));
  const result = await runtime.execSync(
    cri.ExecSyncRequest.fromPartial({ containerId: target.containerId, cmd: command, timeout: BigInt(timeoutSeconds) }),
    // The runtime ends the command in time; this longer deadline is for a runtime that does not.
    { timeoutMs: timeoutMs + 10_000, signal },
  );
  if (result.exitCode === 0) return undefined;
  const output = `${Buffer.from(result.stdout).toString("utf8")}${Buffer.from(result.stderr).toString("utf8")}`;
  return `command '${command.join(" ")}' exited with ${result.exitCode}: ${output.slice(0, 1_000)}`;
}

/** A sleep that is longer than the allowed time ends with that time, and is no failure. */
async function runSleep(
  { host, metrics }: HookDeps,
  sleepMs: number,
  { timeoutMs, signal }: HookOptions,
): Promise<undefined> {
  let isOver = false;
  try {
    await sleep(host.clock, Math.min(sleepMs, timeoutMs), signal);
    isOver = sleepMs <= timeoutMs;
  } finally {
    if (!isOver) metrics?.endedSleeps.add();
  }
}

async function runHttpGet(
  deps: HookDeps,
  action: HTTPGetAction | undefined,
  target: HookTarget,
  { timeoutMs, signal }: HookOptions,
): Promise<string | undefined> {
  if (action === undefined) return "the handler names no action";
  const port = resolvePort(action.port, target.container);
  if (port === undefined) return `couldn't find port: ${action.port} in container ${target.container.name}`;
  const address = action.host || target.podIp;
  if (address === undefined) return "failed to find networking container: the pod has no address";
  const scheme = action.scheme?.toLowerCase() === "https" ? "https" : "http";
  const { path = "/", httpHeaders = [] } = action;
  const place = `${bracketed(address)}:${port}`;
  const headers = httpHeaders.map(({ name, value }) => [name, value] as const);
  const options = { timeoutMs, maxBodyBytes: MAX_RESPONSE_BYTES };
  const ask = async (by: "http" | "https", sent: typeof headers) => {
    const url = `${by}://${place}${path.startsWith("/") ? "" : "/"}${path}`;
    await askForAny(deps.host, { ...options, method: "GET", url, headers: sent }, signal);
  };
  try {
    await ask(scheme, headers);
  } catch (error) {
    if (codeOf(error) !== "ENOTTLS") throw error;
    // The plain request leaves out the credentials, because the server has not proved who it is, as upstream.
    await ask(
      "http",
      headers.filter(([name]) => name.toLowerCase() !== "authorization"),
    );
    deps.metrics?.httpFallbacks.add();
    deps.onHttpFallback(`request to HTTPS lifecycle hook ${place} got HTTP response, retry with HTTP succeeded`);
  }
  return undefined;
}

/** Any answer counts as success, whatever its status and body, as upstream. */
async function askForAny(host: Host, request: HttpRequest, signal: AbortSignal): Promise<void> {
  await host.http.request(request, signal).catch((error: unknown) => {
    if (codeOf(error) !== "EFBIG") throw error;
  });
}

/** A number, or the name of one of the container's ports. */
function resolvePort(port: string | number, container: Container): number | undefined {
  const numeric = Number(port);
  if (Number.isInteger(numeric) && numeric > 0) return numeric;
  return container.ports?.find(({ name }) => name === port)?.containerPort;
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
