/** The type of the entry that a name stands for; a FIFO is "other". */
export type FileType = "file" | "directory" | "link" | "socket" | "character-device" | "block-device" | "other";
