/** Runs the operator against the cluster that KUBECONFIG, or the service account of its pod, names. */
import { once } from "node:events";
import { KubeConfig } from "@kubernetes/client-node";
import { type HostNames, startOperator } from "./operator.ts";

/** Stands where a real one would call the provider of a domain. */
const hostNames: HostNames = {
  announce: async (host) => console.log(`announce ${host}`),
  withdraw: async (host) => console.log(`withdraw ${host}`),
};

const config = new KubeConfig();
config.loadFromDefault();
const operator = await startOperator({ config, hostNames, onError: (what, error) => console.error(what, error) });
await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
await operator.stop();
