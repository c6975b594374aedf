import type { Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";

/** What a pod is called on the network, or why it cannot be named so. */
export type PodHostname =
  | {
      ok: true;
      /** One label, or the whole `hostnameOverride`. At most 63 characters (an override: 64). */
      hostname: string;
      /** `<subdomain>.<namespace>.svc.<clusterDomain>`; empty without a subdomain. */
      domain: string;
      /** What the kernel reports in the pod: the hostname, or with `setHostnameAsFQDN` the full name. */
      kernelHostname: string;
    }
  | { ok: false; error: string };

/** The kernel's limits: 64 bytes, of which a plain host name leaves one for the end. */
const HOSTNAME_MAX = 63;
const KERNEL_HOSTNAME_MAX = 64;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** From `hostname`, else the pod's name, cut to what the kernel takes. Follows GeneratePodHostNameAndDomain. */
export function computePodHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { name, namespace } = podReference(pod);
  const { hostname: asked = "", subdomain = "", hostnameOverride: override, setHostnameAsFQDN } = pod.spec ?? {};
  if (override !== undefined) return overriddenHostname(override);
  if (asked !== "" && !DNS_LABEL.test(asked)) return failure(`pod hostname "${asked}" is not a valid DNS label`);
  if (subdomain !== "" && !DNS_LABEL.test(subdomain)) {
    return failure(`pod subdomain "${subdomain}" is not a valid DNS label`);
  }

  const hostname = truncateHostname(asked || name);
  if (hostname === "") return failure(`hostname for pod "${name}" was invalid: "${asked || name}"`);
  const domain = subdomain === "" ? "" : `${subdomain}.${namespace}.svc.${clusterDomain}`;
  if (domain === "" || setHostnameAsFQDN !== true) return { ok: true, hostname, domain, kernelHostname: hostname };

  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= KERNEL_HOSTNAME_MAX) return { ok: true, hostname, domain, kernelHostname: fqdn };
  return failure(
    "failed to construct FQDN from pod hostname and cluster domain, " +
      `FQDN ${fqdn} is too long (${KERNEL_HOSTNAME_MAX} characters is the max, ${fqdn.length} characters requested)`,
  );
}

function overriddenHostname(override: string): PodHostname {
  if (override.length > KERNEL_HOSTNAME_MAX || !DNS_SUBDOMAIN.test(override)) {
    return failure(`pod hostnameOverride "${override}" is not a DNS name of at most ${KERNEL_HOSTNAME_MAX} characters`);
  }
  return { ok: true, hostname: override, domain: "", kernelHostname: override };
}

/** Cut inside a name, what is left may end with a separator, which no host name may. */
function truncateHostname(hostname: string): string {
  return hostname.length <= HOSTNAME_MAX ? hostname : hostname.slice(0, HOSTNAME_MAX).replace(/[-.]+$/, "");
}

function failure(error: string): PodHostname {
  return { ok: false, error };
}
