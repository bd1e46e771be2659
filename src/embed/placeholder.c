typedef int placeholder_embed;
