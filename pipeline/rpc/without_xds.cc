// gRPC calls this function when it starts. Where archives are linked, this one
// is linked instead of theirs, which registers xDS: service meshes, regular
// expressions and 2 MB of messages, none of which workers use. It is the same
// as src/core/plugin_registry/grpc_plugin_registry_noextra.cc of gRPC. Where
// gRPC has no function of this name, nothing calls it.
namespace grpc_core {

class CoreConfiguration {
 public:
  class Builder;
};

void RegisterExtraFilters(CoreConfiguration::Builder* builder);
void RegisterExtraFilters(CoreConfiguration::Builder* /*builder*/) {}

}  // namespace grpc_core
