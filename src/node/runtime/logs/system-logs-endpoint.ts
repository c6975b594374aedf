import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import type { Files } from "../../../host/port.ts";
import { readNodeLogQuery } from "./node-log-query.ts";
import { type QueryServicesDeps, queryServices } from "./query-services.ts";
import { serveFile } from "./serve-file.ts";

interface SystemLogsDeps extends QueryServicesDeps {
  readonly files: Pick<Files, "openBeneath" | "listBeneath">;
  readonly log: Log;
}

interface SystemLogsOptions {
  /** `/var/log`. */
  readonly directory: string;
  /** The gate NodeLogQuery and `enableSystemLogQuery`. */
  readonly allowsQuery: boolean;
}

/** `GET /logs/…`: the node's own logs (pkg/kubelet/kubelet.go, logServer), by file and, where allowed, by service. */
export function createSystemLogsEndpoint(
  deps: SystemLogsDeps,
  { directory, allowsQuery }: SystemLogsOptions,
): (request: ServedRequest) => Promise<ServedAnswer> {
  const { files, log } = deps;
  return async (request) => {
    if (request.method !== "GET") return { status: 405, body: "405: Method Not Allowed" };
    const path = request.path.slice("/logs/".length);
    const read = allowsQuery ? readNodeLogQuery(request.query) : { kind: "none" as const };
    if (read.kind === "none") return await serveFile(files, { directory, path }, request);
    if (read.kind === "refused") return { status: read.status, body: `${read.message}\n` };
    const { query } = read;
    const [named] = query.files;
    if (named !== undefined) return await serveNamedFile(deps, { directory, path: named }, request);
    return {
      status: 200,
      headers: { "content-type": "text/plain;charset=UTF-8" },
      body: {
        async produce({ write, signal }) {
          try {
            await queryServices(deps, query, { directory, write, signal });
          } catch (error) {
            if (isAbort(error)) return;
            log.warn("cannot read the node's logs", { error: messageOf(error) });
            throw error;
          }
        },
      },
    };
  };
}

/** A file that is not there is a mistake in the query, and not a path that is nothing. */
async function serveNamedFile(
  { files }: SystemLogsDeps,
  { directory, path }: { readonly directory: string; readonly path: string },
  request: ServedRequest,
): Promise<ServedAnswer> {
  const relative = path.replace(/^\/+/, "");
  const answer = await serveFile(files, { directory, path: relative }, request);
  if (answer.status === 404) {
    const why = `stat ${directory}/${relative}: no such file or directory`;
    return { status: 406, body: `query: Invalid value: ${JSON.stringify([path])}: ${why}\n` };
  }
  return answer;
}
