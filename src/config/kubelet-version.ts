/** The Kubernetes version whose flags, configuration and feature gates this build follows. */
const KUBERNETES_VERSION = "v1.36.0";

/** This program's own version, as its package says. */
const NODELET_VERSION = "0.1.0";

/**
 * What the kubelet reports as its version: Kubernetes', for tools that read it as that, with this program's behind the
 * `+` that semantic versions have for such things.
 */
export const KUBELET_VERSION = `${KUBERNETES_VERSION}+nodelet.${NODELET_VERSION}`;
