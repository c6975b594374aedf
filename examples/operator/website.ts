import type { KubernetesObject, V1Condition, V1ObjectMeta } from "@kubernetes/client-node";

/** The custom resource, as website-crd.yaml defines it. */
export interface Website extends KubernetesObject {
  metadata: V1ObjectMeta & { name: string; namespace: string; uid: string };
  spec: {
    host: string;
    html: string;
    /** The definition has a default for it. */
    replicas: number;
  };
  status?: WebsiteStatus;
}

export interface WebsiteStatus {
  /** The generation of the spec that this status is about. */
  observedGeneration: number;
  /** The host that is announced: not the spec's while that has just been changed. */
  host: string;
  conditions: Condition[];
}

/** As `metav1.Condition`, with its time as it travels. */
export type Condition = Omit<V1Condition, "lastTransitionTime"> & { lastTransitionTime: string };

export const WEBSITES = { group: "example.com", version: "v1", plural: "websites" } as const;
export const WEBSITE_KIND = { apiVersion: "example.com/v1", kind: "Website" } as const;
export const FINALIZER = "example.com/announced";
