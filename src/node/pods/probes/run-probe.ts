import type { ProbeClient } from "../../../host/probe-port.ts";
import { resolveContainerPort } from "./container-port.ts";
import { type ExecProbeDeps, runExecProbe } from "./exec-probe.ts";
import { dialWords } from "./failure-words.ts";
import { judgeGrpc } from "./grpc-probe.ts";
import { judgeHttp, makeHttpProbe } from "./http-probe.ts";
import { type ProbeAttempt, type ProbedContainer, timeoutSecondsOf } from "./probe-attempt.ts";

export interface ProbeRunnerDeps extends ExecProbeDeps {
  client: ProbeClient;
  /** The user agent of HTTP and gRPC probes. */
  userAgent: string;
}

/** How often a probe is made until it has a result (pkg/kubelet/prober/prober.go). */
const MAX_TRIES = 3;

/**
 * Makes a probe, and makes it again at once where it says nothing about the container. Rejects only when the signal
 * fires.
 */
export async function runProbe(
  deps: ProbeRunnerDeps,
  target: ProbedContainer,
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  let attempt = await runOnce(deps, target, signal);
  for (let tries = 1; tries < MAX_TRIES && attempt.result === "error"; tries++) {
    attempt = await runOnce(deps, target, signal);
  }
  return attempt;
}

async function runOnce(deps: ProbeRunnerDeps, target: ProbedContainer, signal: AbortSignal): Promise<ProbeAttempt> {
  signal.throwIfAborted();
  const { container, containerId, probe } = target;
  const timeoutSeconds = timeoutSecondsOf(probe);
  if (probe.exec !== undefined) {
    const { command = [] } = probe.exec;
    return await runExecProbe(deps, { containerId, container, command, timeoutSeconds }, signal);
  }
  if (probe.httpGet === undefined && probe.tcpSocket === undefined && probe.grpc === undefined) {
    return unknown(`missing probe handler for ${podOf(target)}:${container.name}`);
  }
  if (target.podIp === undefined) return unknown(`pod ${podOf(target)} has no address yet`);
  return await runOverNetwork(deps, { ...target, podIp: target.podIp }, signal);
}

async function runOverNetwork(
  { client, userAgent }: ProbeRunnerDeps,
  { container, probe, podIp }: ProbedContainer & { podIp: string },
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  const timeoutSeconds = timeoutSecondsOf(probe);
  const timeoutMs = timeoutSeconds * 1000;
  if (probe.httpGet !== undefined) {
    const request = makeHttpProbe(probe.httpGet, { container, podIp, timeoutMs, userAgent });
    if ("error" in request) return unknown(request.error);
    return judgeHttp(await client.http(request, signal), request);
  }
  if (probe.tcpSocket !== undefined) {
    const resolved = resolveContainerPort(probe.tcpSocket.port, container);
    if ("error" in resolved) return unknown(resolved.error);
    const target = { host: probe.tcpSocket.host || podIp, port: resolved.port, timeoutMs };
    const outcome = await client.tcp(target, signal);
    if (outcome.kind === "connected") return { result: "success", output: "" };
    return { result: "failure", output: dialWords(outcome.failure, target.host, target.port) };
  }
  const { port = 0, service = "" } = probe.grpc ?? {};
  const outcome = await client.grpc({ host: podIp, port, service, timeoutMs, userAgent }, signal);
  return judgeGrpc(outcome, { host: podIp, port, timeoutSeconds });
}

function unknown(message: string): ProbeAttempt {
  return { result: "error", state: "unknown", message };
}

function podOf({ pod }: ProbedContainer): string {
  const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
  return `${name}_${namespace}(${uid})`;
}
