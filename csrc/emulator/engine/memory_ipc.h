/* Device memory between processes: what one exports, another maps. The exporter's memory must outlive its importers, as
 * on a device. */
#ifndef EMU_MEMORY_IPC_H
#define EMU_MEMORY_IPC_H

#include "acl/acl.h"
#include "engine/shared.h"

aclError memory_ipc_export(void *address, size_t bytes, bool open_to_all, char key[SHARED_KEY_BYTES], const char *api);
aclError memory_ipc_import(const char *key, int32_t device, void **address, const char *api);
/* Of the exporter: the key dies. Of an importer: its mapping goes. */
aclError memory_ipc_close(const char *key, const char *api);
/* NULL when this process has not exported the key. */
SharedCell *memory_ipc_exported(const char *key);
/* What a device has exported or imported is over. */
void memory_ipc_reset(int32_t device);

#endif
