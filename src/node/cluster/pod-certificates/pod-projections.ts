import type { Pod, PodCertificateProjection } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";

/** One `podCertificate` source of a volume of a pod. */
export interface CertificateProjection {
  readonly podUid: string;
  readonly volumeName: string;
  /** Its place among the volume's sources. */
  readonly sourceIndex: number;
  readonly projection: PodCertificateProjection;
}

/** The sources of a pod that show certificates. */
export function listCertificateProjections(pod: Pod): CertificateProjection[] {
  const { uid: podUid } = podReference(pod);
  return (pod.spec?.volumes ?? []).flatMap(({ name: volumeName, projected }) => {
    return (projected?.sources ?? []).flatMap(({ podCertificate: projection }, sourceIndex) => {
      return projection === undefined ? [] : [{ podUid, volumeName, sourceIndex, projection }];
    });
  });
}

/** The key of a source among all of the node. A volume's name has no slash. */
export function projectionKey({
  podUid,
  volumeName,
  sourceIndex,
}: Pick<CertificateProjection, "podUid" | "sourceIndex" | "volumeName">): string {
  return `${podUid}/${volumeName}/${sourceIndex}`;
}
