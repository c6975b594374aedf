import { KUBERNETES_VERSION } from "../api/kubernetes-version.ts";

declare const NODELET_VERSION: string | undefined;

/** This program's own version, which the build takes from package.json; `dev` where nothing was built. */
const OWN_VERSION = typeof NODELET_VERSION === "string" ? NODELET_VERSION : "dev";

/** The user agent of HTTP and gRPC probes; servers recognize probes by this name. */
export const PROBE_USER_AGENT = `kube-probe/${KUBERNETES_VERSION.split(".").slice(0, 2).join(".").slice(1)}`;

/**
 * The version that the kubelet reports: Kubernetes' version, for tools that parse it, with this program's version
 * behind the `+`, which semantic versions reserve for build metadata.
 */
export const KUBELET_VERSION = `${KUBERNETES_VERSION}+nodelet.${OWN_VERSION}`;
