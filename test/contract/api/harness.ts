import { afterAll, beforeAll } from "vitest";
import { startCluster } from "../../../src/testing/start-cluster.ts";
import { startRestartableCluster } from "../../clusters/restartable-cluster.ts";
import { type ApiClient, type Credentials, createApiClient } from "./client.ts";
import { credentialsOf, textAt } from "./credentials-of.ts";
import { type StartedApiServer, startKubeApiserver } from "./kube-apiserver.ts";

/** A server that the suite runs on. */
export interface ApiServerUnderTest {
  readonly name: string;
  /** True for nodelet's, which runs its controllers too; kube-apiserver alone has none. */
  readonly isOurs: boolean;
  start(): Promise<StartedApiServer>;
}

/** A running server as the cases see it. */
interface ApiServer {
  /** May do everything. */
  readonly admin: ApiClient;
  /** The admin's, for what a client of plain calls cannot do. */
  readonly credentials: Credentials;
  /** The minor part of its version: 36 for 1.36. */
  readonly minor: number;
  /** Makes clients of other users: of a token, or anonymous ones. */
  connect(credentials: { token?: string }): ApiClient;
}

/** Nodelet's API server, always; kube-apiserver with etcd where KUBEBUILDER_ASSETS names their directory. */
export function apiServersUnderTest(): ApiServerUnderTest[] {
  const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
  const ours: ApiServerUnderTest = { name: "nodelet", isOurs: true, start: startOurs };
  if (assets === "") return [ours];
  return [ours, { name: "kube-apiserver", isOurs: false, start: () => startKubeApiserver(assets) }];
}

/** The same servers in a cluster of other service addresses than `10.96.0.0/16`, for example of two families. */
export function apiServersWithRange(serviceCidr: string): ApiServerUnderTest[] {
  const starts = [
    async (): Promise<StartedApiServer> => {
      const { kubeconfig, stop } = await startRestartableCluster(serviceCidr);
      return { admin: credentialsOf(kubeconfig), stop };
    },
    () => startKubeApiserver(process.env["KUBEBUILDER_ASSETS"] ?? "", [`--service-cluster-ip-range=${serviceCidr}`]),
  ];
  return apiServersUnderTest().map((server, index) => ({ ...server, start: starts[index] ?? server.start }));
}

async function startOurs(): Promise<StartedApiServer> {
  const cluster = await startCluster();
  return { admin: credentialsOf(cluster.kubeconfig), stop: () => cluster.stop() };
}

/** One server for the cases of a `describe`, started before the first and stopped after the last. */
export function useApiServer({ start }: ApiServerUnderTest): ApiServer {
  const clients: ApiClient[] = [];
  let started: StartedApiServer | undefined;
  let admin: ApiClient | undefined;
  let minor = 0;
  const running = () => {
    if (started === undefined) throw new Error("the server runs only while the cases do");
    return started;
  };
  beforeAll(async () => {
    started = await start();
    minor = await readMinor(connect(started.admin));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await started?.stop();
  });
  const connect = (credentials: Credentials) => {
    const client = createApiClient(credentials);
    clients.push(client);
    return client;
  };
  return {
    get admin() {
      admin ??= connect(running().admin);
      return admin;
    },
    get credentials() {
      return running().admin;
    },
    get minor() {
      return minor;
    },
    connect({ token }) {
      const { url, caPem } = running().admin;
      return connect({ url, caPem, ...(token !== undefined && { token }) });
    },
  };
}

async function readMinor(client: ApiClient): Promise<number> {
  const { body } = await client.json("GET", "/version");
  const minor = Number.parseInt(textAt(body, ["minor"]), 10);
  if (Number.isNaN(minor)) throw new Error(`the server does not tell its version: ${JSON.stringify(body)}`);
  return minor;
}
