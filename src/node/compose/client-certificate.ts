import type { Part } from "../../base/run-parts.ts";
import { createCertificateRotation } from "../cluster/certificates/certificate-rotation.ts";
import { readClientPair } from "../cluster/certificates/client-kubeconfig.ts";
import type { Foundation } from "./foundation.ts";
import type { KubePorts } from "./node-agent-ports.ts";

/** The client certificate is renewed in its file, where the clients notice it. */
export function composeClientCertificate({ ports, config }: Foundation, kube: KubePorts): Part[] {
  const { kubelet, cluster, nodeName, certDirectory } = config;
  if (kubelet.rotateCertificates !== true || cluster === undefined) return [];
  const { host, log, metrics } = ports;
  const { clock, random, files } = host;
  const rotation = createCertificateRotation(
    { client: kube.client, clock, random, files, log, metrics },
    {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
      subject: () => ({ commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] }),
      pairName: "kubelet-client",
      certDirectory,
      // kubeadm writes the certificate of a node of the control plane into its kubeconfig, and names the file instead
      // once it finds that (kubelet-finalize).
      readFirst: async () => await readClientPair(files, cluster.kubeconfigPath),
    },
  );
  return [{ name: "client certificate", run: rotation.run }];
}
