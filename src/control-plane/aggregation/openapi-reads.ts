import { isAbort } from "../../base/abort.ts";
import { MINUTE, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { withDeadline } from "../../base/time-limit.ts";
import { type Controller, type ControllerDeps, runFollowing } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { readForeignOpenApi } from "../discovery/foreign-openapi.ts";
import { API_SERVICES, type Backend, type Backends, findBackend } from "./backends.ts";
import type { BackendCalls } from "./forward-request.ts";
import { getDocument } from "./get-document.ts";
import { locateBackend } from "./locate-backend.ts";

const READ_TIMEOUT_MS = 10 * SECOND;
/** As upstream: schemas change with the backend's program. */
const REFRESH_MS = MINUTE;
/** All of Kubernetes' own schemas have four megabytes. */
const MAX_BYTES = 8 * 1024 * 1024;

type OpenApiDeps = ControllerDeps & Pick<BackendCalls, "callWeb" | "identity" | "random" | "resolveHost">;

/** What a backend said last. */
interface Texts {
  readonly v2: string;
  readonly v3: string;
}

/**
 * Asks the backends for their OpenAPI documents, which become part of ours. What one said last counts until it is gone: a
 * backend that is broken, or whose documents are none, changes nothing for others.
 */
export function createOpenApiReads(deps: OpenApiDeps, backends: Backends): Controller {
  const told = new Map<string, Texts>();
  const queue = createWorkQueue(deps, {
    name: "openapi-aggregation-controller",
    reconcile: async (name, signal) => {
      const object = deps.reader.get({ resource: API_SERVICES, namespace: "", name });
      const backend = object && findBackend(backends, object);
      if (backend === undefined) {
        told.delete(name);
        return undefined;
      }
      if (!backend.isAvailable) return REFRESH_MS;
      const last = told.get(name) ?? { v2: "", v3: "" };
      const { group = "", version = "" } = backend.spec;
      const v2 = (await read(deps, { backend, path: "/openapi/v2" }, signal)) ?? last.v2;
      const v3 = (await read(deps, { backend, path: `/openapi/v3/apis/${group}/${version}` }, signal)) ?? last.v3;
      if (v2 === last.v2 && v3 === last.v3) return REFRESH_MS;
      told.set(name, { v2, v3 });
      backends.describe(name, readForeignOpenApi({ v2, v3 }));
      return REFRESH_MS;
    },
  });
  const follow = () => [deps.feed.follow(API_SERVICES, ({ object }) => queue.add(object.metadata.name ?? ""))];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/** The text of a document, or the beginning of one that is too long; undefined where the backend gives none. */
async function read(
  deps: OpenApiDeps,
  { backend, path }: { readonly backend: Backend; readonly path: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const location = locateBackend(deps.reader, backend, deps.random);
  if (!location.found) return undefined;
  const document = { backend, server: location.server, path, maxBytes: MAX_BYTES };
  const limit = { timeoutMs: READ_TIMEOUT_MS, signal, what: `reading ${path} of ${backend.name}` };
  try {
    return await withDeadline(deps.clock, limit, async (inner) => await getDocument(deps, document, inner));
  } catch (error) {
    if (isAbort(error) && signal.aborted) throw error;
    deps.log.debug("an aggregated API server has no OpenAPI document", {
      ...{ apiService: backend.name, path, reason: messageOf(error) },
    });
    return undefined;
  }
}
