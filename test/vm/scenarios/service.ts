import type { Stage } from "./scenario.ts";

/** Drop-ins of KubeletConfiguration, which the node agent of the installed service reads. */
const DROP_INS = "/etc/nodelet-vm.d";
const MANIFESTS = "/manifests";

/** Installs the service of `nodelet up`, and returns what the command printed. */
export async function installService({ machine }: Stage): Promise<string> {
  return await machine.read(
    `mkdir -p ${DROP_INS} && nodelet install up --manifests ${MANIFESTS} --kubelet-arg=--config-dir=${DROP_INS}`,
  );
}
