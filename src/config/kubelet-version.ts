/** The Kubernetes version whose flags, configuration and feature gates this build follows. */
const KUBERNETES_VERSION = "v1.36.0";

declare const NODELET_VERSION: string | undefined;

/** This program's own version, as the build took it from package.json; `dev` where nothing was built. */
const OWN_VERSION = typeof NODELET_VERSION === "string" ? NODELET_VERSION : "dev";

/** What HTTP and gRPC probes call themselves; servers let it pass by this name. */
export const PROBE_USER_AGENT = `kube-probe/${KUBERNETES_VERSION.split(".").slice(0, 2).join(".").slice(1)}`;

/**
 * What the kubelet reports as its version: Kubernetes', for tools that read it as that, with this program's behind the
 * `+` that semantic versions have for such things.
 */
export const KUBELET_VERSION = `${KUBERNETES_VERSION}+nodelet.${OWN_VERSION}`;
