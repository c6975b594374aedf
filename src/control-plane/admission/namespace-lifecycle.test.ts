import { describe, expect, test } from "vitest";
import { admit, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createNamespaceLifecycle } from "./namespace-lifecycle.ts";

const namespace = (name: string, phase: string) => {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name }, status: { phase } };
};
const plugin = createNamespaceLifecycle(
  readerOf({ namespaces: [namespace("a", "Active"), namespace("going", "Terminating")] }),
);

describe("namespace lifecycle", () => {
  test("refuses objects in a namespace that does not exist", () => {
    for (const operation of ["CREATE", "UPDATE"] as const) {
      const error = refusalOf(plugin, requestFor("pods", { operation, namespace: "b", object: pod() }));
      expect(error.status).toMatchObject({
        code: 404,
        reason: "NotFound",
        message: 'namespaces "b" not found',
        details: { name: "b", kind: "namespaces" },
      });
    }
  });

  test("refuses new objects in a namespace that is being deleted, with the cause that clients look for", () => {
    const error = refusalOf(plugin, requestFor("pods", { namespace: "going", object: pod() }));
    expect(error.message).toBe(
      'pods "p" is forbidden: unable to create new content in namespace going because it is being terminated',
    );
    expect(error.status).toMatchObject({
      code: 403,
      details: {
        kind: "pods",
        causes: [
          {
            reason: "NamespaceTerminating",
            message: "namespace going is being terminated",
            field: "metadata.namespace",
          },
        ],
      },
    });
  });

  test.each(["default", "kube-system", "kube-public"])("does not let %s be deleted", (name) => {
    const error = refusalOf(plugin, requestFor("namespaces", { operation: "DELETE", namespace: name, name }));
    expect(error.message).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  });

  test.each([
    ["objects of an active namespace", requestFor("pods", { object: pod() })],
    ["changes in a namespace that is being deleted", requestFor("pods", { operation: "UPDATE", namespace: "going" })],
    ["deletions, wherever", requestFor("pods", { operation: "DELETE", namespace: "b" })],
    ["cluster-scoped objects", requestFor("nodes", { namespace: "" })],
    ["new namespaces", requestFor("namespaces", { namespace: "b", name: "b" })],
    ["other namespaces' deletion", requestFor("namespaces", { operation: "DELETE", namespace: "a", name: "a" })],
    ["access reviews", requestFor("localsubjectaccessreviews.authorization.k8s.io", { namespace: "b" })],
    ["connections", requestFor("pods/exec", { operation: "CONNECT", namespace: "b" })],
  ])("lets through %s", (_what, request) => {
    expect(() => admit(plugin, request)).not.toThrow();
  });
});
