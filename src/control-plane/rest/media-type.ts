import { ApiError } from "../../api/api-error.ts";

/** In which form an answer is wanted. */
export interface AcceptedForm {
  readonly encoding: "json" | "yaml";
  /** Instead of the objects themselves. */
  readonly as: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList" | undefined;
  /** Of the Table or PartialObjectMetadata: `v1` or `v1beta1`. */
  readonly version: "v1" | "v1beta1";
}

const PLAIN: AcceptedForm = { encoding: "json", as: undefined, version: "v1" };

/**
 * The first form of an Accept header that can be given. Throws NotAcceptable, which tells Go programs what to ask for
 * instead of protobuf, when there is none.
 */
export function acceptedForm(accept: string): AcceptedForm {
  if (accept.trim() === "") return PLAIN;
  for (const entry of accept.split(",")) {
    const form = formOf(entry);
    if (form) return form;
  }
  const hint = accept.includes("protobuf")
    ? "; a client of Go takes --kube-api-content-type=application/json, or ContentType and AcceptContentTypes of its rest.Config"
    : "";
  const message = `only the following media types are accepted: application/json, application/yaml${hint}`;
  throw new ApiError("NotAcceptable", message);
}

function formOf(entry: string): AcceptedForm | undefined {
  const [type = "", ...parameters] = entry.split(";").map((part) => part.trim());
  const encoding = type === "application/yaml" ? "yaml" : "json";
  if (!["application/json", "application/yaml", "*/*", "application/*"].includes(type)) return undefined;
  const values = new Map(parameters.map((parameter) => splitOnce(parameter)));
  const as = values.get("as");
  if (as === undefined) return { ...PLAIN, encoding };
  if (as !== "Table" && as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList") return undefined;
  const version = values.get("v") ?? "v1";
  if (values.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  return { encoding, as, version };
}

function splitOnce(text: string): [string, string] {
  const index = text.indexOf("=");
  return index === -1 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}
