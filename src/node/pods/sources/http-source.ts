import { createHash } from "node:crypto";
import { isAbort } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import type { HttpClient, HttpResponse } from "../../../host/port.ts";
import { createProblemLog, joinManifestErrors } from "./problem-log.ts";
import { keepLastGood, MAX_MANIFEST_BYTES, readManifest } from "./read-manifest.ts";
import { createSnapshotEmitter, type PodSourceLoop, type SnapshotListener, type SourcePod } from "./source-snapshot.ts";

interface HttpSourceDeps {
  clock: Clock;
  http: HttpClient;
  log: Log;
  emit: SnapshotListener;
}

interface HttpSourceOptions {
  /** `staticPodURL`: gives a Pod, a PodList or several documents of them. */
  url: string;
  /** `staticPodURLHeader`. Never logged. */
  headers?: ReadonlyArray<readonly [name: string, value: string]>;
  nodeName: string;
  /** `httpCheckFrequency`. Default 20 s. */
  checkFrequencyMs?: number;
}

const DEFAULT_CHECK_FREQUENCY_MS = 20 * SECOND;
const TIMEOUT_MS = 10 * SECOND;

/** The URL's last answer. */
interface Manifest {
  etag: string | undefined;
  bodyHash: string;
  pods: SourcePod[];
  errors: string[];
}

/**
 * Static pods from a URL, asked for periodically. The pods that it gave last keep running through all failures; only a
 * manifest without them removes them.
 */
export function createHttpSource(deps: HttpSourceDeps, options: HttpSourceOptions): PodSourceLoop {
  const problems = createProblemLog(deps.log, "url");
  const emit = createSnapshotEmitter("http", deps.emit);
  const shownUrl = hideCredentials(options.url);
  let manifest: Manifest | undefined;

  const check = async (signal: AbortSignal) => {
    try {
      const response = await ask(deps.http, options, manifest?.etag, signal);
      if (response.status === 304 && manifest !== undefined) return reportRefusal(manifest);
      if (response.status !== 200) throw new Error(`the answer has status ${response.status}, expected 200`);
      if (response.body.toString("latin1").trim() === "") {
        // Upstream, too, counts the source as read, so that it does not hold up the clean-up that waits for all
        // sources.
        if (manifest === undefined) emit([]);
        throw new Error("the answer is empty");
      }
      manifest = takeResponse(deps.log, { response, options, shownUrl }, manifest);
      emit(manifest.pods);
      reportRefusal(manifest);
    } catch (error) {
      if (isAbort(error)) throw error;
      const fields = { error: messageOf(error), podsKept: manifest?.pods.length ?? 0 };
      problems.report(shownUrl, { level: "error", message: "Failed to read pods from URL", fields });
    }
  };
  const reportRefusal = ({ errors }: Manifest) => {
    const fields = { error: joinManifestErrors(errors) };
    problems.report(
      shownUrl,
      errors.length === 0 ? undefined : { level: "error", message: "Refused pods from URL", fields },
    );
  };

  return {
    async run(signal) {
      const periodMs = options.checkFrequencyMs ?? DEFAULT_CHECK_FREQUENCY_MS;
      try {
        await repeat(deps.clock, { periodMs, signal }, async () => check(signal));
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

async function ask(
  http: HttpClient,
  { url, headers = [] }: HttpSourceOptions,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return http.request(
    {
      method: "GET",
      url,
      headers: etag === undefined ? headers : [...headers, ["If-None-Match", etag]],
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_MANIFEST_BYTES,
      verifyTls: true,
    },
    signal,
  );
}

function takeResponse(
  log: Log,
  answer: { response: HttpResponse; options: HttpSourceOptions; shownUrl: string },
  before: Manifest | undefined,
): Manifest {
  const { body, headers } = answer.response;
  const etag = headers["etag"];
  const bodyHash = createHash("sha256").update(body).digest("hex");
  if (before?.bodyHash === bodyHash) return { ...before, etag };
  const { url, nodeName } = answer.options;
  const content = readManifest(body, { source: "http", location: url, nodeName });
  const isNothing = content.pods.length === 0 && content.errors.length === 0 && !isList(body);
  const errors = isNothing ? ["it holds no pod and no list of pods"] : content.errors;
  if (content.warnings.length > 0) {
    log.warn("Pods from URL have unusual content", {
      url: answer.shownUrl,
      warning: joinManifestErrors(content.warnings),
    });
  }
  const shown = content.pods.map(({ pod, origin }) => ({ pod, origin: origin.replace(url, answer.shownUrl) }));
  return { etag, bodyHash, pods: keepLastGood(before?.pods ?? [], { pods: shown, errors }), errors };
}

/** True for a list that says that it is a list: an empty one removes every pod. */
function isList(body: Buffer): boolean {
  return /\bkind["']?\s*:\s*["']?(Pod)?List\b/.test(body.toString("latin1"));
}

function hideCredentials(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === "" && url.password === "") return text;
  url.username = "";
  url.password = "";
  return url.href;
}
