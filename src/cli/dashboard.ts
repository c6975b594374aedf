import { randomBytes } from "node:crypto";
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { aborted } from "../base/abort.ts";
import { CodedError, runAll } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { computeStateLayout } from "../cluster/supervisor/state-layout.ts";
import { KUBELET_VERSION } from "../config/kubelet-version.ts";
import { createDashboard } from "../dashboard/create-dashboard.ts";
import type { PageFiles } from "../dashboard/serve-page.ts";
import type { HttpHandler, HttpServer } from "../host/http-server.ts";
import { createLinuxHost } from "../host/linux/create-linux-host.ts";
import { listenHttp } from "../host/linux/network/listen-http.ts";
import { createHttpKubeClient } from "../kube/http/create-http-kube-client.ts";
import { createKubeDoor } from "../kube/http/create-kube-door.ts";
import { readKubeconfig } from "../kube/kubeconfig.ts";
import { findKubeconfig, namedKubeconfig } from "./find-kubeconfig.ts";
import { watchProcess } from "./kubelet/watch-process.ts";
import { type LogFlags, openCommandLog } from "./log-options.ts";

/** The options as commander reads them. */
export interface DashboardCommand extends LogFlags {
  readonly kubeconfig?: string;
  readonly port: number;
  readonly stateDir: string;
}

const CALL_TIMEOUT_MS = 15_000;
/** A browser opens six connections to a server, and every page one for its stream. */
const MAX_CONNECTIONS = 256;
const ADDRESS = "127.0.0.1";
const TOKEN_BYTES = 32;

/** Serves the page until it is stopped. Returns the exit code. */
export async function dashboard(options: DashboardCommand): Promise<number> {
  const { clock, random, files, programs } = createLinuxHost();
  const connection = await readKubeconfig(await chooseKubeconfig(options), files);
  const watch = watchProcess(process, openCommandLog(options));
  const userAgent = `nodelet-dashboard/${KUBELET_VERSION}`;
  const deps = { connection, clock, random, programs, log: silentLog, signal: watch.signal };
  const client = createHttpKubeClient(deps, { userAgent, qps: 0, burst: 0, timeoutMs: CALL_TIMEOUT_MS });
  const randomName = () => randomBytes(TOKEN_BYTES).toString("base64url");
  const token = randomName();
  const state: { server?: HttpServer } = {};
  const handle = createDashboard(
    { client, door: createKubeDoor(deps, userAgent), clock, random, randomName },
    { files: await readPageFiles(), token, server: connection.server, port: () => state.server?.port ?? 0 },
  );
  try {
    state.server = await listen(options.port, handle);
    console.log(`The page of ${connection.server}, with the rights of ${connection.source}:\n`);
    console.log(`  http://${ADDRESS}:${state.server.port}/#token=${token}\n`);
    console.log("Whoever has this link has your rights there. Ctrl-C ends it.");
    await aborted(watch.signal);
    // A terminal shows ^C in the line of the cursor, where the shell would write its prompt.
    console.log(`${process.stdout.isTTY ? "\n" : ""}The page is not served any more.`);
  } finally {
    const { server } = state;
    await runAll([async () => await server?.close(), client.close], "stopping the dashboard");
    watch.release();
  }
  return 0;
}

async function listen(port: number, handle: HttpHandler): Promise<HttpServer> {
  const limits = { maxConnections: MAX_CONNECTIONS };
  return await listenHttp({ at: { address: ADDRESS, port }, limits }, handle);
}

/** As kubectl, but a node of this machine comes before the home directory's cluster. */
async function chooseKubeconfig({ kubeconfig, stateDir }: DashboardCommand): Promise<string> {
  const named = kubeconfig ?? namedKubeconfig(process.env);
  if (named !== undefined) return named;
  const own = computeStateLayout(stateDir).kubeconfig;
  const isReadable = await access(own).then(
    () => true,
    () => false,
  );
  return isReadable ? own : findKubeconfig(undefined, process.env);
}

/** The page lies beside the program: `npm run build` puts it there. */
async function readPageFiles(): Promise<PageFiles> {
  const directory = fileURLToPath(new URL("./page", import.meta.url));
  const names = await readdir(directory).catch((error: unknown) => {
    throw new CodedError("no-page", `the page is not beside the program (${directory}): run npm run build`, {
      cause: error,
    });
  });
  const entries = names.map(async (name) => [name, await readFile(join(directory, name))] as const);
  return new Map(await Promise.all(entries));
}
