import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf, textAt } from "./credentials-of.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const RANGES = "/apis/networking.k8s.io/v1/servicecidrs";
const DNS = "/api/v1/namespaces/kube-system/services/kube-dns";

describe("a cluster that is started with another range of services", () => {
  let api: ApiClient;
  let stop: () => Promise<void>;
  let restart: (serviceCidr: string, dnsAddress: string) => Promise<void>;
  beforeEach(async () => {
    const certificates = await createCertificates();
    const journal = createMemoryJournal();
    const start = async (serviceCidr: string, serviceAddress: string) => {
      const clusterDns = { serviceAddress, serverAddress: "192.0.2.1" };
      const options = { address: "127.0.0.1", port: 0, serviceCidr, version: "test", clusterDns };
      const running = await serveControlPlane(options, { journal, certificates, log: silentLog });
      await Promise.race([running.ready, running.ended]);
      api = createApiClient(credentialsOf(running.kubeconfig));
      stop = async () => {
        api.close();
        await running.close();
      };
    };
    restart = async (serviceCidr, dnsAddress) => {
      await stop();
      await start(serviceCidr, dnsAddress);
    };
    await start("10.96.0.0/24", "10.96.0.10");
  });
  afterEach(async () => await stop());

  const addressAt = async (path: string) => textAt(await api.object("GET", path), ["spec", "clusterIP"]);
  const ranges = async () => {
    const { items } = await api.list(RANGES);
    return Object.fromEntries(items.map((item) => [item.metadata.name, textAt(item, ["spec", "cidrs", 0])]));
  };
  const web = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });

  it("has its own services there, and those of others where they were", async () => {
    await api.object("POST", SERVICES, web("old"));
    const before = await addressAt(`${SERVICES}/old`);
    await restart("10.97.0.0/24", "10.97.0.10");
    expect(await addressAt(`${SERVICES}/kubernetes`)).toBe("10.97.0.1");
    expect(await addressAt(DNS)).toBe("10.97.0.10");
    expect(await addressAt(`${SERVICES}/old`)).toBe(before);
    expect(await ranges()).toEqual({ kubernetes: "10.97.0.0/24", "kubernetes-former-10.96.0.0-24": "10.96.0.0/24" });
    await api.object("POST", SERVICES, web("new"));
    expect(await addressAt(`${SERVICES}/new`)).toMatch(/^10\.97\.0\./);
    expect((await api.json("DELETE", `${SERVICES}/old`)).status).toBe(200);
  });

  it("keeps no range of before where nobody needs it, and may go back", async () => {
    await restart("10.97.0.0/24", "10.97.0.10");
    expect(await ranges()).toEqual({ kubernetes: "10.97.0.0/24" });
    await restart("10.96.0.0/24", "10.96.0.10");
    expect(await ranges()).toEqual({ kubernetes: "10.96.0.0/24" });
    expect(await addressAt(`${SERVICES}/kubernetes`)).toBe("10.96.0.1");
  });
});
