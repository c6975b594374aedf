const PATH_COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const HOST =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d+)?$/;

/** The longest repository name that registries take. */
const MAX_REPOSITORY_LENGTH = 255;

interface ImageReference {
  /** The repository as it is written, with the registry's host. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Undefined when the text is no image reference (`registry.example/app:1.2@sha256:…`). Adds no defaults. */
export function parseImageReference(image: string): ImageReference | undefined {
  const [named = "", digest, ...rest] = image.split("@");
  if (rest.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  // A colon before the last slash belongs to the registry's port.
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  if (!isRepository(repository) || (tag !== undefined && !TAG.test(tag))) return undefined;
  return { repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

function isRepository(text: string): boolean {
  if (text.length > MAX_REPOSITORY_LENGTH || /^[0-9a-f]{64}$/.test(text)) return false;
  const [first = "", ...others] = text.split("/");
  const isHost = others.length > 0 && (/[.:[A-Z]/.test(first) || first === "localhost");
  return isHost ? HOST.test(first) && others.every(isPathComponent) : [first, ...others].every(isPathComponent);
}

const isPathComponent = (text: string) => PATH_COMPONENT.test(text);

/**
 * Returns Always for images whose content may change under their name (`:latest`, or no tag and no digest), else
 * IfNotPresent.
 */
export function defaultImagePullPolicy(image: string): "Always" | "IfNotPresent" {
  const reference = parseImageReference(image);
  if (!reference) return "IfNotPresent";
  const tag = reference.tag ?? (reference.digest === undefined ? "latest" : undefined);
  return tag === "latest" ? "Always" : "IfNotPresent";
}
