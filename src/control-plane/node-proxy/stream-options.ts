import type { RequestedStreams } from "../../streams/requested-streams.ts";
import { encodeQuery, readFlag } from "./query-values.ts";

/** The options of exec and attach (PodExecOptions, PodAttachOptions), by the names of their query. */
export function readStreams(query: URLSearchParams): RequestedStreams {
  return {
    stdin: readFlag(query, "stdin"),
    stdout: readFlag(query, "stdout"),
    stderr: readFlag(query, "stderr"),
    tty: readFlag(query, "tty"),
  };
}

/** The same options by the names that nodes know. */
export function encodeStreams({ stdin, stdout, stderr, tty }: RequestedStreams, command: readonly string[]): string {
  const flags = { input: stdin, output: stdout, error: stderr, tty };
  return encodeQuery([
    ...command.map((argument) => ["command", argument] as const),
    ...Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [[name, "1"] as const] : [])),
  ]);
}
