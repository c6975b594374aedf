import { expect, it } from "vitest";
import { acceptedForm } from "./media-type.ts";

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";

it.each([
  ["", { encoding: "json", as: undefined, version: "v1" }],
  ["*/*", { encoding: "json", as: undefined, version: "v1" }],
  ["application/yaml", { encoding: "yaml", as: undefined, version: "v1" }],
  [`${TABLE},application/json`, { encoding: "json", as: "Table", version: "v1" }],
  ["application/json;as=Table;v=v1beta1;g=meta.k8s.io", { encoding: "json", as: "Table", version: "v1beta1" }],
  [
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    { encoding: "json", as: "PartialObjectMetadataList", version: "v1" },
  ],
  // What Go programs ask for: the second choice is taken.
  ["application/vnd.kubernetes.protobuf, application/json", { encoding: "json", as: undefined, version: "v1" }],
  // Of a group, a version and a form that nobody knows, the next entry is taken.
  ["application/json;as=Table;g=other;v=v1, */*", { encoding: "json", as: undefined, version: "v1" }],
  [
    "application/json;as=Chart;g=meta.k8s.io;v=v1, application/yaml",
    { encoding: "yaml", as: undefined, version: "v1" },
  ],
])("accepting %j gives %j", (accept, form) => expect(acceptedForm(accept)).toEqual(form));

it("says what is accepted, and to Go programs how to ask for it", () => {
  expect(() => acceptedForm("text/html")).toThrow(
    "only the following media types are accepted: application/json, application/yaml",
  );
  expect(() => acceptedForm("application/vnd.kubernetes.protobuf")).toThrow(
    /--kube-api-content-type=application\/json/,
  );
});
