import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bridgeAddressOf } from "../../../src/cluster/containerd/ensure-bridge.ts";
import { clusterDnsAddressOf } from "../../../src/cluster/supervisor/cluster-dns.ts";
import { clusterDnsService, clusterDnsSlice } from "../../../src/control-plane/bootstrap/cluster-dns-objects.ts";
import { fetchText } from "../../agent.ts";
import { createObject } from "../objects.ts";
import { type RunningStandIn, type StandInPlace, startStandIn } from "./stand-in-process.ts";

const SERVICES_PATH = "/api/v1/namespaces/kube-system/services";
const SLICES_PATH = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";
const READY_PORT = 8_181;

/** Starts CoreDNS where our server listens, behind the same service at the same address. */
export async function startCoreDns(place: StandInPlace, binary: string): Promise<RunningStandIn> {
  const { address } = bridgeAddressOf(place.podCidr);
  const corefile = join(place.directory, "Corefile");
  await writeFile(corefile, corefileOf(address, await place.issue("coredns", ["system:masters"])));
  const running = await startStandIn({
    binary,
    args: ["-conf", corefile],
    logFile: join(place.directory, "coredns.log"),
    works: async () => (await fetchText({ host: address, port: READY_PORT, path: "/ready" })) === "OK",
    signal: place.signal,
  });
  try {
    const addresses = { serviceAddress: clusterDnsAddressOf(place.serviceCidr), serverAddress: address };
    await createObject(place.connection, SERVICES_PATH, clusterDnsService(addresses));
    await createObject(place.connection, SLICES_PATH, clusterDnsSlice(addresses));
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** The one of kubeadm, at one address, and without the servers beyond the cluster, of which the bench asks nothing. */
function corefileOf(address: string, kubeconfig: string): string {
  return `.:53 {
  bind ${address}
  errors
  health ${address}:8080 {
    lameduck 5s
  }
  ready ${address}:${READY_PORT}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  prometheus ${address}:9153
  cache 30 {
    disable success cluster.local
    disable denial cluster.local
  }
  reload
  loadbalance
}
`;
}
