import type { Duplex } from "node:stream";
import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import { formatHttpHead } from "../../host/http-head.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import { type CallUpgrade, joinStreams, type UpgradeCall, type UpgradeResult } from "../../host/upgrade-call.ts";
import type { CallTls } from "../../host/web-call.ts";
import { unexpectedFailure } from "./failure.ts";
import { forwardedFor, forwardedHeaders, withoutHopByHop } from "./forwarded-headers.ts";

/**
 * Passes an upgrade on to a server and carries bytes of any protocol. The answer of a server that refuses goes to the
 * client as it is (apimachinery/pkg/util/proxy/upgradeaware.go).
 */
export async function forwardUpgrade(
  callUpgrade: CallUpgrade,
  request: Pick<ServedRequest, "headersBeginning" | "header" | "method" | "remoteAddress" | "signal">,
  to: Omit<UpgradeCall, "method" | "headers"> & { readonly addedHeaders?: UpgradeCall["headers"] },
): Promise<ServedAnswer> {
  const { signal, method } = request;
  const { addedHeaders, ...server } = to;
  const headers = { ...upgradeHeaders(request, { isTranslated: false }), ...addedHeaders };
  let result: UpgradeResult;
  try {
    result = await callUpgrade({ ...server, method, headers }, signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    return unexpectedFailure(`error dialing backend: ${messageOf(error)}`);
  }
  if (result.kind === "answered") {
    if (result.status >= 400) {
      return { status: result.status, headers: withoutHopByHop(result.headers), body: { source: result.body } };
    }
    result.body.destroy();
    return unexpectedFailure(`invalid upgrade response: status code ${result.status}`);
  }
  const { socket: backend, headers: agreed } = result;
  // From here on it ends only when the client leaves, also before the client's connection is handed over.
  backend.on("error", () => undefined);
  signal.addEventListener("abort", () => backend.destroy(), { once: true });
  const takeOver = async (socket: Duplex) => {
    socket.write(formatHttpHead(101, agreed));
    await joinStreams(socket, backend, {}, signal);
  };
  return { status: 101, headers: {}, body: { takeOver } };
}

/** The TLS options of a call in the form that `CallUpgrade` takes. */
export function upgradeTls({ ca, ...pair }: CallTls): NonNullable<UpgradeCall["tls"]> {
  return { ...pair, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) };
}

/**
 * The client's headers without those about its connection, by which it could have a server behind the proxy drop others;
 * and without those of its protocol where that is translated on the way.
 */
export function upgradeHeaders(
  request: Pick<ServedRequest, "headersBeginning" | "header" | "remoteAddress">,
  { isTranslated }: { isTranslated: boolean },
): Record<string, string | readonly string[]> {
  const headers = Object.entries(withoutHopByHop(forwardedHeaders(request)));
  const kept = isTranslated ? headers.filter(([name]) => !name.startsWith("sec-websocket-")) : headers;
  return {
    ...Object.fromEntries(kept),
    ...(!isTranslated && { connection: "Upgrade", upgrade: request.header("upgrade") }),
    host: request.header("host")[0] ?? "",
    "x-forwarded-for": forwardedFor(request),
  };
}
