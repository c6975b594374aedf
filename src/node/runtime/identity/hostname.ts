import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { checkDnsLabel, checkDnsSubdomain } from "../../../api/validation/names.ts";

/** The pod's name on the network, or the reason why the pod cannot have it. */
type PodHostname =
  | {
      ok: true;
      /** One label, or the whole `hostnameOverride`. It has at most 63 characters (an override: 64). */
      hostname: string;
      /** `<subdomain>.<namespace>.svc.<clusterDomain>`; empty without a subdomain. */
      domain: string;
      /** The name that the kernel reports in the pod: the hostname, or with `setHostnameAsFQDN` the full name. */
      kernelHostname: string;
    }
  | { ok: false; error: string };

/** The kernel allows 64 bytes, and a plain host name leaves one of them for the end. */
const HOSTNAME_MAX = 63;
const KERNEL_HOSTNAME_MAX = 64;

/**
 * Takes the name from `hostname`, else from the pod's name, cut to what the kernel takes. Follows
 * GeneratePodHostNameAndDomain.
 */
export function computePodHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { name, namespace } = podReference(pod);
  const { hostname: asked = "", subdomain = "", hostnameOverride: override, setHostnameAsFQDN } = pod.spec ?? {};
  if (override !== undefined) return overriddenHostname(override);
  const problem = labelProblem("Hostname", asked) ?? labelProblem("Subdomain", subdomain);
  if (problem !== undefined) return failure(problem);

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

function labelProblem(field: "Hostname" | "Subdomain", label: string): string | undefined {
  const problems = label === "" ? [] : checkDnsLabel(label);
  return problems.length === 0 ? undefined : `pod ${field} "${label}" is not a valid DNS label: ${problems.join(";")}`;
}

function overriddenHostname(override: string): PodHostname {
  const tooLong = override.length > KERNEL_HOSTNAME_MAX ? [`must be no more than ${KERNEL_HOSTNAME_MAX} bytes`] : [];
  const problems = [...tooLong, ...checkDnsSubdomain(override)];
  if (problems.length > 0) {
    return failure(`pod HostnameOverride "${override}" is not a valid DNS subdomain: ${problems.join(";")}`);
  }
  return { ok: true, hostname: override, domain: "", kernelHostname: override };
}

/** A name that is cut may end with a separator, which no host name may; the separator is removed too. */
function truncateHostname(hostname: string): string {
  return hostname.length <= HOSTNAME_MAX ? hostname : hostname.slice(0, HOSTNAME_MAX).replace(/[-.]+$/, "");
}

function failure(error: string): PodHostname {
  return { ok: false, error };
}
