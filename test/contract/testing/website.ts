/** A small custom resource. */
export const WEBSITE_DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "websites.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "websites", singular: "website", kind: "Website", listKind: "WebsiteList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["html"],
                properties: { html: { type: "string" }, replicas: { type: "integer", default: 1 } },
              },
              status: { type: "object", properties: { ready: { type: "boolean" } } },
            },
          },
        },
      },
    ],
  },
};

export function website(name: string, spec: object) {
  return { apiVersion: "example.com/v1", kind: "Website", metadata: { name, namespace: "default" }, spec };
}
