import { isRecord } from "../api/object.ts";

/** The last message to a client, in the error channel, as Go writes a `metav1.Status`. */
type StreamStatus = Readonly<Record<string, unknown>>;

/** How a session with the node ended. */
export type StreamOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "failed"; readonly message: string };

/** In the words of client-go and of kube-apiserver (apiserver/pkg/util/proxy/streamtranslator.go). */
export function describeOutcome(outcome: StreamOutcome): StreamStatus {
  if (outcome.kind === "done") return { metadata: {}, status: "Success" };
  if (outcome.kind === "exited") {
    return {
      metadata: {},
      status: "Failure",
      message: `command terminated with non-zero exit code: command terminated with exit code ${outcome.code}`,
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: String(outcome.code) }] },
    };
  }
  return {
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${outcome.message}`,
    reason: "InternalError",
    details: { causes: [{ message: outcome.message }] },
    code: 500,
  };
}

/** The HTTP status that the metrics count it as. */
export function codeOfOutcome(outcome: StreamOutcome): number {
  return outcome.kind === "failed" ? 500 : 200;
}

/** What a node wrote in the error stream of `v4.channel.k8s.io`; nothing at all is success (client-go's `errorDecoderV4`). */
export function readErrorStream(text: string): StreamOutcome {
  if (text === "") return { kind: "done" };
  const status = parseObject(text);
  if (status === undefined) return failed(`error stream protocol error: no JSON object in ${JSON.stringify(text)}`);
  if (status["status"] === "Success") return { kind: "done" };
  if (status["status"] !== "Failure") return failed("error stream protocol error: unknown error");
  if (status["reason"] === "NonZeroExitCode") return readExitCode(status["details"]);
  return failed(textOf(status["message"]));
}

function readExitCode(details: unknown): StreamOutcome {
  if (!isRecord(details)) return failed("error stream protocol error: details must be set");
  const causes: readonly unknown[] = Array.isArray(details["causes"]) ? details["causes"] : [];
  const cause = causes.filter(isRecord).find(({ reason }) => reason === "ExitCode");
  if (cause === undefined) return failed("error stream protocol error: no ExitCode cause given");
  const code = textOf(cause["message"]);
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255) {
    return failed(`error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  }
  return { kind: "exited", code: Number(code) };
}

/** The words of a server that does not speak SPDY: the message of a Status, or its text (streaming/pkg/httpstream/spdy). */
export function readUpgradeRefusal(body: string): string {
  const answer = parseObject(body);
  const said = [textOf(answer?.["message"]), textOf(answer?.["error"]), body].map((text) => text.trim());
  return said.find((text) => text !== "") ?? "empty server response";
}

function failed(message: string): StreamOutcome {
  return { kind: "failed", message };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
