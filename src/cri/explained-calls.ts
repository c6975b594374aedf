import type { Endpoint } from "../grpc/endpoint.ts";
import { isGrpcError } from "../grpc/port.ts";
import { createService, mapErrors, type RpcCaller } from "../grpc/service.ts";
import { probeSocket, type SocketFinding } from "../grpc/socket-probe.ts";
import { RuntimeServiceDefinition, type VersionResponse } from "./gen/cri-v1.ts";
import { CriError, type CriErrorCode, isCriError } from "./port.ts";

const PROBE_TIMEOUT_MS = 5_000;

/**
 * A caller whose errors say what is wrong with the runtime itself. gRPC gives the same answer for a missing socket and
 * one on which a web server listens, and for an old runtime and a disabled plugin; a person who has to mend it needs to
 * know which it is. The explanation costs a look at the socket or one or two Version calls, and only after a failure.
 */
export function explainCalls(caller: RpcCaller, endpoint: Endpoint): RpcCaller {
  return mapErrors(caller, async (thrown) => {
    const error = asCriError(thrown, endpoint);
    if (!isCriError(error, "unavailable", "deadline-exceeded", "unimplemented")) return error;
    const found =
      error.code === "unimplemented" ? await explainUnimplemented(caller, error) : await look(endpoint, error);
    if (found === undefined) return error;
    return new CriError(found.code, { rpc: error.rpc, endpoint: endpoint.url, detail: found.detail, cause: error });
  });
}

/** Returns the CriError of a failed call; any other error is returned unchanged. CRI-O's messages may end a line. */
export function asCriError(error: unknown, endpoint: Endpoint): unknown {
  if (!isGrpcError(error)) return error;
  const { code, rpc, detail, cause } = error;
  return new CriError(code, { rpc, endpoint: endpoint.url, detail: detail.trimEnd(), cause });
}

interface Explanation {
  code: CriErrorCode;
  detail: string;
}

async function look({ path }: Endpoint, error: CriError): Promise<Explanation | undefined> {
  return explainSocket(await probeSocket(path), error);
}

/** Undefined where the socket looks right; the call's own message says more then. */
function explainSocket(finding: SocketFinding, error: CriError): Explanation | undefined {
  switch (finding.found) {
    case "nothing":
      return { code: error.code, detail: "no such socket: is the runtime running?" };
    case "no-socket":
      return { code: "not-a-runtime", detail: "the path is not a socket" };
    case "closed":
      return { code: error.code, detail: `nothing answers on the socket: ${finding.reason}` };
    case "silent":
      return { code: error.code, detail: `the socket accepts connections, but nothing answers (${error.detail})` };
    case "other-protocol":
      return { code: "not-a-runtime", detail: "what listens on the socket does not speak gRPC" };
    case "http2":
      return undefined;
  }
}

async function explainUnimplemented(caller: RpcCaller, error: CriError): Promise<Explanation | undefined> {
  const current = await readVersion(caller, "runtime.v1.RuntimeService");
  if (current) return { code: "unimplemented", detail: `${nameOf(current)} does not implement ${error.rpc}` };
  const old = await readVersion(caller, "runtime.v1alpha2.RuntimeService");
  if (old) return { code: "unsupported-version", detail: `${nameOf(old)} speaks CRI v1alpha2 only, and v1 is needed` };
  // An image service may stand alone, without a RuntimeService that could be asked.
  if (error.rpc.includes("Image")) return undefined;
  const hint = "containerd answers so where its cri plugin is disabled or failed to load";
  return { code: "not-a-runtime", detail: `what listens on the socket has no CRI runtime service (${hint})` };
}

/** Version has the same messages in v1alpha2 and v1. */
async function readVersion(caller: RpcCaller, fullName: string): Promise<VersionResponse | undefined> {
  const service = createService({ ...RuntimeServiceDefinition, fullName }, caller);
  return await service.version({ version: "" }, { timeoutMs: PROBE_TIMEOUT_MS }).catch(() => undefined);
}

function nameOf(version: VersionResponse): string {
  return `${version.runtimeName} ${version.runtimeVersion}`;
}
